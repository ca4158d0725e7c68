import type { Answer, Asked } from "../../../src/plugin-testing/fake-server/server.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Fault, Faults } from "./faults.ts";
import { ACCOUNT } from "./methods/account.ts";
import { Noted, type Call, type Methods } from "./methods/call.ts";
import { CHATS } from "./methods/chats.ts";
import { DOWNLOAD_LIMIT, MEDIA } from "./methods/media.ts";
import { MESSAGES } from "./methods/messages.ts";
import { Refusal } from "./objects.ts";
import { readParams, type Params, type Upload } from "./params.ts";

/** Names of methods are not case-sensitive. */
const METHODS = new Map(
  Object.entries({ ...ACCOUNT, ...MESSAGES, ...MEDIA, ...CHATS } satisfies Methods).map(([name, method]) => [name.toLowerCase(), { name, method }]),
);

/** A call as it came. */
export interface RecordedCall {
  readonly method: string;
  readonly via: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, Upload>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly at: number;
  /** 0 while there is none, or where the connection was cut. */
  status: number;
  /** It changed something, whether or not the caller got an answer. */
  hadEffect: boolean;
}

export interface Requests {
  readonly calls: RecordedCall[];
  handle(asked: Asked): Promise<Answer>;
}

interface Deps extends Omit<Call, "params" | "gone"> {
  readonly clock: Clock;
  readonly faults: Faults;
  token(): string;
}

function refusalBody({ status, message, parameters }: Refusal): object {
  return { ok: false, error_code: status, description: message, ...(parameters ? { parameters } : {}) };
}

const answer = (status: number, body: unknown): Answer => ({
  status,
  body,
  headers: { "content-type": typeof body === "string" ? "text/html" : "application/json", server: "nginx/1.18.0" },
});
const refused = (refusal: Refusal): Answer => answer(refusal.status, refusalBody(refusal));

/** The fault as an answer, where it is one. */
function faulty({ status, body, description, retryAfter }: Fault): { readonly status: number; readonly body: unknown } | undefined {
  if (retryAfter !== undefined)
    return { status: 429, body: refusalBody(new Refusal(429, `Too Many Requests: retry after ${retryAfter}`, { retry_after: retryAfter })) };
  if (status === undefined) return undefined;
  return { status, body: body ?? refusalBody(new Refusal(status, description ?? (status >= 500 ? "Internal Server Error" : "Bad Request"))) };
}

export function createRequests(deps: Deps): Requests {
  const calls: RecordedCall[] = [];

  function download(path: string): Answer {
    const file = [...deps.world.files.values()].find((one) => one.path === path);
    if (!file || file.data.length > DOWNLOAD_LIMIT) return refused(new Refusal(404, "Not Found"));
    return { body: file.data, headers: { "content-length": String(file.data.length) } };
  }

  async function run(name: string, params: Params, gone: AbortSignal): Promise<{ readonly status: number; readonly body: unknown }> {
    const found = METHODS.get(name.toLowerCase());
    if (!found) return { status: 404, body: refusalBody(new Refusal(404, "Not Found: method not found")) };
    try {
      const result = await found.method({ ...deps, params, gone });
      return { status: 200, body: result instanceof Noted ? { ok: true, result: result.result, description: result.description } : { ok: true, result } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.status, body: refusalBody(error) };
    }
  }

  /** What was ordered instead of the call's effect, if anything was. */
  async function before(fault: Fault | undefined, call: RecordedCall): Promise<Answer | undefined> {
    if (!fault) return undefined;
    const { delayMs } = fault;
    if (delayMs !== undefined) await new Promise<void>((resolve) => void deps.clock.after(delayMs, resolve));
    if (fault.silent === "before") return { cut: "silent" };
    if (fault.drop === "before") return { cut: "reset" };
    const instead = fault.applied ? undefined : faulty(fault);
    if (!instead) return undefined;
    call.status = instead.status;
    return answer(instead.status, instead.body);
  }

  async function callMethod(name: string, { query, headers, body: sent, method: via, gone }: Asked): Promise<Answer> {
    let params: Params;
    try {
      params = await readParams(query, headers["content-type"] ?? "", sent);
    } catch (error) {
      return refused(error instanceof Refusal ? error : new Refusal(400, "Bad Request: the body ended early"));
    }
    const method = METHODS.get(name.toLowerCase())?.name ?? name;
    const call: RecordedCall = { method, via, params: params.raw, files: params.uploads, headers, at: deps.clock.now(), status: 0, hadEffect: false };
    calls.push(call);
    const fault = deps.faults.take(method, params.raw);
    const early = await before(fault, call);
    if (early) return early;
    const { status, body } = await run(method, params, gone);
    call.hadEffect = status === 200;
    if (fault?.silent === "after") return { cut: "silent" };
    if (fault?.drop === "after") return { cut: "reset" };
    const instead = fault?.applied ? faulty(fault) : undefined;
    call.status = gone.aborted ? 0 : (instead?.status ?? status);
    return answer(instead?.status ?? status, instead ? instead.body : body);
  }

  return {
    calls,
    async handle(asked) {
      const found = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(asked.path);
      if (!found || !/^\d+:[\w-]+$/.test(decodeURIComponent(found[2]!))) return refused(new Refusal(404, "Not Found"));
      const facts = { via: asked.method, files: new Map(), headers: asked.headers, at: deps.clock.now(), hadEffect: false };
      if (decodeURIComponent(found[2]!) !== deps.token()) {
        calls.push({ ...facts, method: found[1] === undefined ? found[3]! : "file", params: {}, status: 401 });
        return refused(new Refusal(401, "Unauthorized"));
      }
      if (found[1] === undefined) return callMethod(found[3]!, asked);
      const fault = deps.faults.take("file", { path: found[3]! });
      const call: RecordedCall = { ...facts, method: "file", params: { path: found[3]! }, status: 200 };
      calls.push(call);
      return (await before(fault, call)) ?? download(decodeURIComponent(found[3]!));
    },
  };
}

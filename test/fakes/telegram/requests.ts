import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../src/base/clock.ts";
import type { Fault, Faults } from "./faults.ts";
import { collect } from "./listener.ts";
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
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface Deps extends Omit<Call, "params" | "gone"> {
  readonly clock: Clock;
  readonly faults: Faults;
  token(): string;
}

function refusalBody({ status, message, parameters }: Refusal): object {
  return { ok: false, error_code: status, description: message, ...(parameters ? { parameters } : {}) };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", server: "nginx/1.18.0" });
  response.end(isText ? body : JSON.stringify(body));
}

/** The fault as an answer, where it is one. */
function faulty({ status, body, description, retryAfter }: Fault): { readonly status: number; readonly body: unknown } | undefined {
  if (retryAfter !== undefined)
    return { status: 429, body: refusalBody(new Refusal(429, `Too Many Requests: retry after ${retryAfter}`, { retry_after: retryAfter })) };
  if (status === undefined) return undefined;
  return { status, body: body ?? refusalBody(new Refusal(status, description ?? (status >= 500 ? "Internal Server Error" : "Bad Request"))) };
}

export function createRequests(deps: Deps): Requests {
  const calls: RecordedCall[] = [];

  function download(path: string, response: ServerResponse): void {
    const file = [...deps.world.files.values()].find((one) => one.path === path);
    if (!file || file.data.length > DOWNLOAD_LIMIT) return answer(response, 404, refusalBody(new Refusal(404, "Not Found")));
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": file.data.length });
    response.end(file.data);
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

  /** Plays what was ordered before the call had its effect. True: that was all. */
  async function before(fault: Fault | undefined, call: RecordedCall, response: ServerResponse): Promise<boolean> {
    if (!fault) return false;
    const { delayMs } = fault;
    if (delayMs !== undefined) await new Promise<void>((resolve) => void deps.clock.after(delayMs, resolve));
    if (fault.silent === "before") return true;
    if (fault.drop === "before") {
      response.socket?.resetAndDestroy();
      return true;
    }
    const instead = fault.applied ? undefined : faulty(fault);
    if (!instead) return false;
    call.status = instead.status;
    answer(response, instead.status, instead.body);
    return true;
  }

  async function callMethod(name: string, url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    let params: Params;
    try {
      params = await readParams(url.searchParams, request.headers["content-type"] ?? "", await collect(request));
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(400, "Bad Request: the body ended early");
      return answer(response, refusal.status, refusalBody(refusal));
    }
    const method = METHODS.get(name.toLowerCase())?.name ?? name;
    const facts = { method, via: request.method ?? "", params: params.raw, files: params.uploads, headers: request.headers, at: deps.clock.now() };
    const call: RecordedCall = { ...facts, status: 0, hadEffect: false };
    calls.push(call);
    const fault = deps.faults.take(method, params.raw);
    if (await before(fault, call, response)) return;
    const { status, body } = await run(method, params, gone.signal);
    call.hadEffect = status === 200;
    if (fault?.silent === "after") return;
    if (fault?.drop === "after") return void response.socket?.resetAndDestroy();
    const instead = fault?.applied ? faulty(fault) : undefined;
    call.status = response.destroyed ? 0 : (instead?.status ?? status);
    answer(response, instead?.status ?? status, instead ? instead.body : body);
  }

  return {
    calls,
    async handle(request, response) {
      const url = new URL(request.url ?? "/", "http://localhost");
      const found = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(url.pathname);
      if (!found || !/^\d+:[\w-]+$/.test(decodeURIComponent(found[2]!))) return answer(response, 404, refusalBody(new Refusal(404, "Not Found")));
      const facts = { via: request.method ?? "", files: new Map(), headers: request.headers, at: deps.clock.now(), hadEffect: false };
      if (decodeURIComponent(found[2]!) !== deps.token()) {
        calls.push({ ...facts, method: found[1] === undefined ? found[3]! : "file", params: {}, status: 401 });
        return answer(response, 401, refusalBody(new Refusal(401, "Unauthorized")));
      }
      if (found[1] === undefined) return callMethod(found[3]!, url, request, response);
      const fault = deps.faults.take("file", { path: found[3]! });
      const call: RecordedCall = { ...facts, method: "file", params: { path: found[3]! }, status: 200 };
      calls.push(call);
      if (!(await before(fault, call, response))) download(decodeURIComponent(found[3]!), response);
    },
  };
}

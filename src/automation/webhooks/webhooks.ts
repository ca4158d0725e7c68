/** Requests of other programs that start work: who may send them, what they ask for, and the answer. What is accepted is on disk before it is answered. */
import { createHash } from "node:crypto";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { isRecord } from "../../base/records.ts";
import type { Config } from "../../config/index.ts";
import { createMarkUntrusted } from "../../tools/index.ts";
import { agentAction, mappedAction, wakeAction, type HookAction } from "./action.ts";
import { mappingsOf, takes, type Mapping } from "./mappings.ts";
import { createHookRuns, type HookRuns, type HookRunsDeps, type Incoming } from "./runs.ts";
import { checkSignature, deliveryId, memoryOf, setupAnswer, showsAnswers } from "./signature.ts";
import type { Transforms } from "./transform.ts";

/** A request whose headers were accepted. */
export interface HookRequest {
  /** Below the path of hooks, without slashes around it; never empty. */
  readonly path: string;
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The sender knows `hooks.token`. Otherwise only a signature counts. */
  readonly trusted: boolean;
}

/** Sent as JSON; without a body there is none. */
export interface HookAnswer {
  readonly status: number;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface WebhooksDeps extends HookRunsDeps {
  readonly config: Pick<Config, "current" | "resolveSecret">;
  readonly ids: Ids;
  readonly transforms: Transforms;
}

export interface Webhooks extends Pick<HookRuns, "resume" | "close"> {
  /** Rejects with an `AppError` where nothing was accepted. */
  handle(request: HookRequest): Promise<HookAnswer>;
}

type Fields = Readonly<Record<string, unknown>>;
/** What a signature stands for, or why it is refused. */
type Sealed = { readonly seal: string } | { readonly refused: string };

/** Rows of signatures that were seen. */
const SEALS = "webhook.signature";
const MAX_KEY = 256;
/** Headers with which senders mark a repeat. */
const KEY_HEADERS = ["idempotency-key", "webhook-id", "x-github-delivery"];

function hashOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
}

const refusal = (status: number, error: string): HookAnswer => ({ status, body: { ok: false, error } });

/** What `curl -d '{…}'` sends calls itself a form and is none. */
const isForm = ({ headers, body }: HookRequest): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "") && !/^\s*[[{]/.test(body.toString("latin1", 0, 100));

/** The body as an object. Of a form its fields; services that send JSON in a form have it in a field called `payload`. */
function payloadOf(request: HookRequest): Fields {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(request.body);
    const form = isForm(request) ? Object.fromEntries(new URLSearchParams(text)) : undefined;
    const json = form ? form["payload"] : text;
    value = json === undefined ? form : json.trim() === "" ? {} : JSON.parse(json);
  } catch {
    throw new AppError("INVALID_INPUT", "Invalid JSON: the body must be one JSON object in UTF-8, or a form");
  }
  if (!isRecord(value)) throw new AppError("INVALID_INPUT", "Invalid body: expected a JSON object");
  return value;
}

/** Names the work of a request: by the sender's key, so that a repeat is found, or by an id of its own. */
function identify({ path, headers, body }: HookRequest, { ids }: Pick<WebhooksDeps, "ids">, delivery?: string): Incoming {
  const key = delivery ?? KEY_HEADERS.map((name) => headers[name]?.trim()).find((value) => value);
  if (key !== undefined && key.length > MAX_KEY)
    throw new AppError("INVALID_INPUT", `the idempotency key has ${key.length} characters; the limit is ${MAX_KEY}`);
  const id = key === undefined ? ids.uuid() : `webhook:${hashOf(path, key).slice(0, 40)}`;
  return { id, hash: hashOf(path, body), isKeyed: key !== undefined };
}

/** Secrets of mappings. A reference is resolved once per configuration, so that senders cannot have a program run at will. */
function createSecrets({ config, log }: Pick<WebhooksDeps, "config" | "log">): (mapping: Mapping) => Promise<string> {
  let known = new Map<string, string>();
  let of = config.current;
  return async ({ signed, label }) => {
    if (signed?.secret === undefined) return "";
    if (of !== config.current) [known, of] = [new Map(), config.current];
    const found = known.get(signed.secretAt);
    if (found !== undefined) return found;
    try {
      const secret = await config.resolveSecret(signed.secret, signed.secretAt);
      known.set(signed.secretAt, secret);
      return secret;
    } catch (error) {
      log.error(`the secret of the webhook mapping ${label} could not be resolved; its requests are refused`, { error });
      return "";
    }
  };
}

/** Checks the signature of a request to a mapping that asks for one. */
function checkSigned({ signed }: Mapping, request: HookRequest, secret: string, now: number): Sealed {
  if (!signed) return { refused: "Unauthorized" };
  const verdict = checkSignature(signed.preset, request, secret, now);
  return verdict.ok ? { seal: verdict.seal } : { refused: verdict.message };
}

/** Carries out a signed request whose signature is remembered, on disk. One that came before with another request is a replay. */
async function sealed({ store }: WebhooksDeps, { signed }: Mapping, seal: string, id: string, work: () => Promise<HookAnswer>): Promise<HookAnswer> {
  const ttlMs = signed ? memoryOf(signed.preset) : 0;
  const { status } = await store.write("idempotency.begin", { scope: SEALS, key: seal, payloadHash: id, ttlMs });
  if (status === "mismatch") return refusal(409, "this signed request was already accepted; replays are refused");
  let isAccepted = false;
  try {
    const answer = await work();
    isAccepted = answer.status < 300;
    return answer;
  } finally {
    // What was refused may be sent again under another id.
    if (!isAccepted && status === "new") await store.write("idempotency.abandon", { scope: SEALS, key: seal });
  }
}

/** Fields that the code of a mapping returns: null when there is nothing to do, undefined when it failed. */
async function overridesOf(
  { transforms, log }: WebhooksDeps,
  { transform, label }: Mapping,
  request: HookRequest,
  payload: Fields,
): Promise<Fields | null | undefined> {
  if (!transform) return {};
  const { headers, url, path } = request;
  try {
    return await transforms.run(transform, { payload, headers, url, path });
  } catch (error) {
    if (error instanceof AppError && error.code === "OVERLOADED") throw error;
    log.error(`the transform ${transform.module} of the webhook mapping ${label} failed: ${messageOf(error)}`);
    return undefined;
  }
}

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { config, clock, ids } = deps;
  const mark = createMarkUntrusted(ids);
  const runs = createHookRuns(deps, mark);
  const secretOf = createSecrets(deps);
  const actionDeps = (): Parameters<typeof agentAction>[1] => ({ config: config.current, uuid: ids.uuid });

  async function carryOut(action: HookAction, incoming: Incoming): Promise<HookAnswer> {
    const isWake = action.kind === "wake";
    const started = isWake ? await runs.wake(action, incoming) : await runs.start(action, incoming);
    if (started === "mismatch") return refusal(409, "the idempotency key was already used for another request; use a new key");
    const repeated = started === "repeated" ? { duplicate: true } : {};
    return isWake ? { status: 200, body: { ok: true, mode: action.mode, ...repeated } } : { status: 202, body: { ok: true, runId: incoming.id, ...repeated } };
  }

  async function runMapping(mapping: Mapping, request: HookRequest, payload: Fields, seal: string | undefined): Promise<HookAnswer> {
    const { path, headers, query } = request;
    const { signed } = mapping;
    const answered = signed && setupAnswer(signed.preset, headers, payload);
    if (answered) return { status: 200, body: answered };
    const overrides = await overridesOf(deps, mapping, request, payload);
    if (overrides === undefined) return refusal(500, "hook mapping failed");
    if (overrides === null) return { status: 204 };
    const values = { path, now: new Date(clock.now()).toISOString(), headers, query, payload };
    const action = mappedAction(mapping, values, overrides, actionDeps());
    const incoming = identify(request, deps, signed && (deliveryId(signed.preset, headers, payload) ?? seal));
    const work = (): Promise<HookAnswer> => carryOut(action, incoming);
    const answer = await (seal === undefined ? work() : sealed(deps, mapping, seal, incoming.id, work));
    return signed && showsAnswers(signed.preset) && isForm(request) && answer.status < 300 ? { status: 200 } : answer;
  }

  /** Finds the first mapping that takes the request. Signatures are checked before anything in the body is read. */
  async function handleMapped(request: HookRequest): Promise<HookAnswer> {
    const mappings = mappingsOf(config.current).filter(({ path, signed }) => (path === undefined || path === request.path) && (request.trusted || signed));
    const checked = new Map<Mapping, Sealed>();
    for (const mapping of mappings) if (mapping.signed) checked.set(mapping, checkSigned(mapping, request, await secretOf(mapping), clock.now()));
    const refused = [...checked.values()].find((one) => "refused" in one);
    const isKnown = request.trusted || [...checked.values()].some((one) => "seal" in one);
    if (!isKnown) return refusal(401, refused?.refused ?? "Unauthorized");
    const payload = payloadOf(request);
    const mapping = mappings.find((one) => takes(one, request.path, payload));
    if (!mapping) return refusal(404, `Not Found: no mapping matches ${request.path} (hooks.mappings)`);
    const own = checked.get(mapping);
    if (own && "refused" in own) return refusal(401, own.refused);
    return runMapping(mapping, request, payload, own?.seal);
  }

  return {
    resume: runs.resume,
    close: runs.close,
    async handle(request) {
      try {
        if (!request.trusted || (request.path !== "wake" && request.path !== "agent")) return await handleMapped(request);
        const payload = payloadOf(request);
        const action = request.path === "wake" ? wakeAction(payload) : agentAction(payload, actionDeps());
        return await carryOut(action, identify(request, deps));
      } catch (error) {
        if (error instanceof AppError && error.code === "INVALID_INPUT") return refusal(400, error.message);
        throw error;
      }
    },
  };
}

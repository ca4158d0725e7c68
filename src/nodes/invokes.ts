import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { failpoint } from "../base/failpoints.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import { clip } from "../base/text.ts";
import type { Config } from "../config/index.ts";
import type { MethodParams, MethodResult } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import { commandRefusal } from "./commands.ts";
import type { NodeRegistry, NodeSession } from "./registry.ts";
import { checkSystemRun, type ApprovalCheckDeps } from "./system-run.ts";

export type InvokeRequest = MethodParams<"node.invoke">;
export type InvokeResult = MethodResult<"node.invoke">;
type NodeAnswer = MethodParams<"node.invoke.result">;

/** Who asks. */
export interface Invoker {
  /** Of an operator; an approval is good for the device that asked for it. */
  readonly deviceId?: string | undefined;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** How an invoke ended, as it is stored. */
type Outcome =
  | { readonly ok: true; readonly payload?: unknown; readonly payloadJSON?: string | null }
  | { readonly ok: false; readonly message: string; readonly details: Readonly<Record<string, unknown>> };

export interface Invokes {
  invoke(request: InvokeRequest, invoker: Invoker, options?: { readonly internal?: boolean }): Promise<InvokeResult>;
  /** A node's answer; false when nobody waits for it. */
  answer(answer: NodeAnswer, connId: string): boolean;
}

export interface InvokesDeps extends ApprovalCheckDeps {
  readonly registry: NodeRegistry;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly config: Pick<Config, "current">;
  readonly log: Logger;
}

const SCOPE = "node.invoke";
const DEFAULT_TIMEOUT_MS = 30_000;
const MOST_TIMEOUT_MS = 24 * 60 * 60_000;
/** Invokes that one node, and all of them together, may have open. */
const MOST_OPEN_PER_NODE = 64;
const MOST_OPEN = 2000;
/** Larger answers are passed on and not stored. */
const MOST_STORED = 262_144;
const MOST_MESSAGE = 4000;

interface Open {
  readonly id: string;
  readonly nodeId: string;
  readonly command: string;
  readonly connId: string;
  readonly end: (outcome: Outcome, cancelled?: "timeout" | "caller-gone") => void;
}

/** An invoke under a key that has no outcome yet, and those who wait for it. */
interface Waited {
  readonly hash: string;
  readonly outcome: Promise<Outcome>;
  readonly everyoneLeft: AbortController;
  waiting: number;
}

const failed = (message: string, details: Readonly<Record<string, unknown>>): Outcome => ({ ok: false, message, details });
const withCode = (code: string, message: string): Outcome => failed(message, { code, nodeError: { code, message } });

const UNKNOWN = failed("the gateway stopped while this command was open on the node, so its outcome is not known; check the node before you run it again", {
  code: "OUTCOME_UNKNOWN",
  outcome: "unknown",
});

function outcomeOf({ ok, payload, payloadJSON, error }: NodeAnswer): Outcome {
  if (!ok) {
    const message = clip(error?.message ?? "the node reported a failure without a reason", MOST_MESSAGE);
    return failed(message, { nodeError: { code: clip(error?.code ?? "UNAVAILABLE", 100), message } });
  }
  return { ok: true, ...(payload === undefined ? {} : { payload }), ...(payloadJSON === undefined ? {} : { payloadJSON }) };
}

/** What is kept of an outcome: what is too large is not, but that it ran is. */
function storedOutcome(outcome: Outcome): Outcome {
  if (!outcome.ok || JSON.stringify(outcome).length <= MOST_STORED) return outcome;
  return failed("the command ran, and its answer was too large to be stored; run it again under a new key to get it", { code: "ANSWER_NOT_STORED" });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function resultOf({ nodeId, command }: InvokeRequest, outcome: Outcome): InvokeResult {
  if (!outcome.ok) throw new AppError("UNAVAILABLE", outcome.message, { details: outcome.details });
  const { payload, payloadJSON } = outcome;
  return { ok: true, nodeId, command, payload: typeof payloadJSON === "string" ? parsed(payloadJSON) : payload, payloadJSON: payloadJSON ?? null };
}

function hashOf({ nodeId, command, params, timeoutMs }: InvokeRequest): string {
  return createHash("sha256").update(canonicalJson({ nodeId, command, params, timeoutMs })).digest("hex");
}

const mismatch = (key: string): AppError =>
  new AppError("INVALID_INPUT", `idempotencyKey ${JSON.stringify(clip(key, 100))} was already used for another node.invoke; use a new key for a new command`);

/** Commands for the node's own rules have methods of their own. */
const RESERVED = /^system\.execApprovals\./;

/** Throws when the node may not be asked. */
function checkedNode({ nodeId, command }: InvokeRequest, { registry, config }: InvokesDeps, internal: boolean): NodeSession {
  if (!internal && RESERVED.test(command)) {
    throw new AppError("INVALID_INPUT", "node.invoke does not take system.execApprovals.*; use exec.approvals.node.get and exec.approvals.node.set", {
      details: { command },
    });
  }
  const node = registry.get(nodeId);
  if (!node) throw new AppError("UNAVAILABLE", "node not connected", { details: { code: "NOT_CONNECTED" } });
  const reason = internal && RESERVED.test(command) ? undefined : commandRefusal(command, node, config.current);
  if (reason !== undefined) throw new AppError("INVALID_INPUT", "node command not allowed", { details: { reason, command } });
  return node;
}

/** Requests that are on their way to nodes. */
interface OpenInvokes {
  /** Takes a place until it is given back. Throws `OVERLOADED` when the node, or all of them, have too many. */
  reserve(nodeId: string): Disposable;
  /** Sends the request and waits for the first of answer, time-out, disconnect and cancel. */
  send(node: NodeSession, request: InvokeRequest, params: unknown, cancel: AbortSignal): Promise<Outcome>;
  readonly answer: Invokes["answer"];
}

function createOpenInvokes({ registry, clock, ids }: Pick<InvokesDeps, "registry" | "clock" | "ids">): OpenInvokes {
  const open = new Map<string, Open>();
  const reserved = new Map<string, number>();
  let total = 0;
  function giveBack(nodeId: string): void {
    const left = (reserved.get(nodeId) ?? 1) - 1;
    if (left === 0) reserved.delete(nodeId);
    else reserved.set(nodeId, left);
    total -= 1;
  }
  registry.onGone(({ link: { connId } }) => {
    for (const one of open.values())
      if (one.connId === connId) one.end(failed(`Error: node disconnected (${one.command})`, { code: "DISCONNECTED", outcome: "unknown" }));
  });

  return {
    reserve(nodeId) {
      const own = reserved.get(nodeId) ?? 0;
      if (own < MOST_OPEN_PER_NODE && total < MOST_OPEN) {
        reserved.set(nodeId, own + 1);
        total += 1;
        return { [Symbol.dispose]: () => giveBack(nodeId) };
      }
      const whose = own < MOST_OPEN_PER_NODE ? "all nodes" : "this node";
      throw new AppError("OVERLOADED", `too many commands are open on ${whose}; wait for one of them`, { details: { retryAfterMs: 1000 } });
    },
    send(node, request, params, cancel) {
      const { command, idempotencyKey } = request;
      const { nodeId, link } = node;
      const id = ids.uuid();
      const timeoutMs = Math.min(request.timeoutMs ?? DEFAULT_TIMEOUT_MS, MOST_TIMEOUT_MS);
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      const end: Open["end"] = (outcome, cancelled) => {
        if (!open.delete(id)) return;
        timer[Symbol.dispose]();
        cancel.removeEventListener("abort", onCancel);
        if (cancelled !== undefined) link.send("node.invoke.cancel", { id, nodeId, reason: cancelled });
        resolve(outcome);
      };
      const timer = clock.after(timeoutMs, () => end(withCode("TIMEOUT", "node invoke timed out"), "timeout"));
      const onCancel = (): void => end(failed("the command was cancelled: its caller went away", { code: "CANCELLED", outcome: "unknown" }), "caller-gone");
      open.set(id, { id, nodeId, command, connId: link.connId, end });
      cancel.addEventListener("abort", onCancel, { once: true });
      const paramsJSON = params === undefined ? null : JSON.stringify(params);
      const isSent = registry.get(nodeId) === node && link.send("node.invoke.request", { id, nodeId, command, paramsJSON, timeoutMs, idempotencyKey });
      if (!isSent) end(failed(`Error: node disconnected (${command})`, { code: "DISCONNECTED" }));
      else if (cancel.aborted) onCancel();
      return promise;
    },
    answer(answer, connId) {
      const one = open.get(answer.id);
      if (!one || one.connId !== connId || one.nodeId !== answer.nodeId) return false;
      one.end(outcomeOf(answer));
      return true;
    },
  };
}

/** Those with the same key wait for the same outcome; when all have left, it is cancelled. */
async function waitFor(one: Waited, signal: AbortSignal): Promise<Outcome> {
  const leave = (): void => {
    one.waiting -= 1;
    if (one.waiting === 0) one.everyoneLeft.abort();
  };
  one.waiting += 1;
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  try {
    return await one.outcome;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

export function createInvokes(deps: InvokesDeps): Invokes {
  const { store, log } = deps;
  const open = createOpenInvokes(deps);
  const byKey = new Map<string, Waited>();
  /** What a killed gateway left open has one outcome from here on. */
  const former = endFormer(deps);

  /** The node and what is sent to it; throws when it may not be sent. */
  async function prepare(
    request: InvokeRequest,
    invoker: Invoker,
    internal: boolean,
    places: DisposableStack,
  ): Promise<{ readonly node: NodeSession; readonly params: unknown }> {
    const node = checkedNode(request, deps, internal);
    places.use(open.reserve(request.nodeId));
    return { node, params: request.command === "system.run" && !internal ? await checkSystemRun(request, invoker, deps) : request.params };
  }

  async function run(request: InvokeRequest, invoker: Invoker, hash: string, cancel: AbortSignal, internal: boolean): Promise<Outcome> {
    const { idempotencyKey: key, nodeId, command } = request;
    await former;
    using places = new DisposableStack();
    let ready: Awaited<ReturnType<typeof prepare>>;
    try {
      ready = await prepare(request, invoker, internal, places);
    } catch (error) {
      // Refused, unless it ran before: then its outcome stands.
      const before = await store.read("idempotency.get", { scope: SCOPE, key });
      if (before?.state === "done" && before.payloadHash === hash) return before.result as Outcome;
      throw error;
    }
    const begun = await store.write("idempotency.begin", { scope: SCOPE, key, payloadHash: hash, about: { nodeId, command } });
    if (begun.status === "mismatch") throw mismatch(key);
    if (begun.status === "replay") return begun.result as Outcome;
    if (begun.status === "running") return UNKNOWN;
    failpoint("node.invoke.begun");
    const outcome = await open.send(ready.node, request, ready.params, cancel);
    failpoint("node.invoke.answered");
    await store.write("idempotency.complete", { scope: SCOPE, key, result: storedOutcome(outcome) });
    return outcome;
  }

  return {
    async invoke(request, invoker, { internal = false } = {}) {
      const key = request.idempotencyKey;
      const hash = hashOf(request);
      let one = byKey.get(key);
      if (one && one.hash !== hash) throw mismatch(key);
      if (!one) {
        const everyoneLeft = new AbortController();
        const outcome = run(request, invoker, hash, everyoneLeft.signal, internal).finally(() => byKey.delete(key));
        outcome.catch(() => log.debug("a node command was refused", { command: request.command, nodeId: request.nodeId }));
        byKey.set(key, (one = { hash, outcome, everyoneLeft, waiting: 0 }));
      }
      return resultOf(request, await waitFor(one, invoker.signal));
    },
    answer: open.answer,
  };
}

async function endFormer({ store, log }: InvokesDeps): Promise<void> {
  const left = await store.read("idempotency.running", { scope: SCOPE });
  for (const { key } of left) await store.write("idempotency.complete", { scope: SCOPE, key, result: UNKNOWN });
  if (left.length > 0)
    log.warn(`${left.length} node commands were open when the previous process ended; their outcome is not known and they are not run again`);
}

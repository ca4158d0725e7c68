import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { failpoint } from "../base/failpoints.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import { clip } from "../base/text.ts";
import type { Config } from "../config/index.ts";
import type { MethodParams, MethodResult } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import { commandRefusal, READ_ONLY, RESERVED } from "./commands.ts";
import { createOpenInvokes, failed, type CancelReason, type OpenInvokes, type Outcome, type Sending } from "./open-invokes.ts";
import type { NodeRegistry, NodeSession } from "./registry.ts";
import { checkFileCommand, checkSystemRun, type ApprovalCheckDeps } from "./system-run.ts";

export type InvokeRequest = MethodParams<"node.invoke">;
export type InvokeResult = MethodResult<"node.invoke">;

/** Who asks. */
export interface Invoker {
  /** Of an operator; an approval is good for the device that asked for it. */
  readonly deviceId?: string | undefined;
  /** Of an agent's turn: it is notified when the node goes away. */
  readonly sessionKey?: string | undefined;
  /** Fires when the caller no longer waits for the response. */
  readonly signal: AbortSignal;
  /** Gets text that the node sends while the command runs. */
  readonly onProgress?: ((seq: number, chunk: string) => void) | undefined;
}

export interface Invokes extends Pick<OpenInvokes, "answer" | "unreadable" | "progress"> {
  invoke(request: InvokeRequest, invoker: Invoker, options?: { readonly internal?: boolean }): Promise<InvokeResult>;
  /** Ends the command that runs under a key; false when none does. */
  cancel(key: string, nodeId: string): boolean;
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
/** Larger answers are passed on and not stored. */
const MOST_STORED = 262_144;

/** How an invoke ended, and when that is on disk where nobody has to wait for it. */
interface Ended {
  readonly outcome: Outcome;
  readonly stored?: Promise<void>;
}

/** An invoke under a key that has no outcome yet, and those who wait for it. */
interface Waited {
  readonly hash: string;
  readonly nodeId: string;
  readonly outcome: Promise<Outcome>;
  readonly end: (reason: CancelReason) => void;
  readonly listeners: Set<NonNullable<Invoker["onProgress"]>>;
  waiting: number;
  /** It has an outcome, which is being stored. */
  isOver: boolean;
}

const UNKNOWN = failed("the gateway stopped while this command was open on the node, so its outcome is unknown; check the node before you run it again", {
  code: "OUTCOME_UNKNOWN",
  outcome: "unknown",
});

/** What is kept of an outcome: what is too large is not, but that it ran is. */
function storedOutcome(outcome: Outcome): Outcome {
  if (!outcome.ok || JSON.stringify(outcome).length <= MOST_STORED) return outcome;
  return failed("the command ran, and its result was too large to be stored; run it again under a new key to get it", { code: "ANSWER_NOT_STORED" });
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

/** Commands whose claim of an approval is checked. */
const CHECKS: Readonly<Record<string, typeof checkSystemRun>> = { "system.run": checkSystemRun, "file.read": checkFileCommand, "file.write": checkFileCommand };

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

/** Those with the same key wait for the same outcome; when all have left, it is cancelled. */
async function waitFor(one: Waited, { signal, onProgress }: Invoker): Promise<Outcome> {
  const leave = (): void => {
    if (onProgress) one.listeners.delete(onProgress);
    one.waiting -= 1;
    if (one.waiting === 0) one.end("caller-gone");
  };
  if (onProgress) one.listeners.add(onProgress);
  one.waiting += 1;
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  try {
    return await one.outcome;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** A command that only looks: a repeat of its key gets the same answer, but for a crash within the moment until that is stored. */
async function look({ store, clock, log }: InvokesDeps, open: OpenInvokes, hash: string, sending: Sending): Promise<Ended> {
  const { idempotencyKey: key, nodeId, command } = sending.request;
  const before = await store.read("idempotency.get", { scope: SCOPE, key });
  if (before && before.expiresAt > clock.now()) {
    if (before.payloadHash !== hash) throw mismatch(key);
    return { outcome: before.state === "done" ? (before.result as Outcome) : UNKNOWN };
  }
  const outcome = await open.send(sending);
  failpoint("node.invoke.answered");
  // Both in one commit.
  const stored = Promise.all([
    store.write("idempotency.begin", { scope: SCOPE, key, payloadHash: hash, about: { nodeId, command } }),
    store.write("idempotency.complete", { scope: SCOPE, key, result: storedOutcome(outcome) }),
  ]).then(
    () => failpoint("node.invoke.ended"),
    (error: unknown) => log.warn(`the outcome of ${command} on a node could not be stored: ${messageOf(error)}`, { nodeId }),
  );
  return { outcome, stored };
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
    const check = internal || !Object.hasOwn(CHECKS, request.command) ? undefined : CHECKS[request.command];
    return { node, params: check ? await check(request, invoker, deps) : request.params };
  }

  async function run(request: InvokeRequest, invoker: Invoker, internal: boolean, sending: Pick<Sending, "cancel" | "onProgress">): Promise<Ended> {
    const { idempotencyKey: key, nodeId, command } = request;
    const hash = hashOf(request);
    await former;
    using places = new DisposableStack();
    let ready: Awaited<ReturnType<typeof prepare>>;
    try {
      ready = await prepare(request, invoker, internal, places);
    } catch (error) {
      // Refused, unless it ran before: then its outcome stands.
      const before = await store.read("idempotency.get", { scope: SCOPE, key });
      if (before?.state === "done" && before.payloadHash === hash) return { outcome: before.result as Outcome };
      throw error;
    }
    if (READ_ONLY.has(command)) return await look(deps, open, hash, { ...ready, ...sending, request });
    const begun = await store.write("idempotency.begin", { scope: SCOPE, key, payloadHash: hash, about: { nodeId, command } });
    if (begun.status === "mismatch") throw mismatch(key);
    if (begun.status === "replay") return { outcome: begun.result as Outcome };
    if (begun.status === "running") return { outcome: UNKNOWN };
    failpoint("node.invoke.begun");
    const outcome = await open.send({ ...ready, ...sending, request });
    failpoint("node.invoke.answered");
    await store.write("idempotency.complete", { scope: SCOPE, key, result: storedOutcome(outcome) });
    failpoint("node.invoke.ended");
    return { outcome };
  }

  return {
    async invoke(request, invoker, { internal = false } = {}) {
      const key = request.idempotencyKey;
      const hash = hashOf(request);
      let one = byKey.get(key);
      if (one && one.hash !== hash) throw mismatch(key);
      if (!one) {
        const { nodeId, command } = request;
        const cancel = new AbortController();
        const listeners: Waited["listeners"] = new Set();
        const onProgress: Sending["onProgress"] = (seq, chunk) => {
          for (const listener of listeners) listener(seq, chunk);
        };
        const ended = run(request, invoker, internal, { cancel: cancel.signal, onProgress: invoker.onProgress && onProgress });
        // The key is known here until the store knows it.
        ended
          .then(({ stored }) => stored)
          .catch(() => log.debug("a node command was refused", { command, nodeId }))
          .finally(() => byKey.delete(key));
        const made: Waited = { hash, nodeId, outcome: ended.then(over), listeners, end: (reason) => cancel.abort(reason), waiting: 0, isOver: false };
        function over({ outcome }: Ended): Outcome {
          made.isOver = true;
          return outcome;
        }
        byKey.set(key, (one = made));
      }
      return resultOf(request, await waitFor(one, invoker));
    },
    cancel(key, nodeId) {
      const one = byKey.get(key);
      if (one?.nodeId !== nodeId || one.isOver) return false;
      one.end("cancelled");
      return true;
    },
    answer: open.answer,
    unreadable: open.unreadable,
    progress: open.progress,
  };
}

async function endFormer({ store, log }: InvokesDeps): Promise<void> {
  const left = await store.read("idempotency.running", { scope: SCOPE });
  for (const { key } of left) await store.write("idempotency.complete", { scope: SCOPE, key, result: UNKNOWN });
  if (left.length > 0)
    log.warn(`${left.length} node commands were open when the previous process ended; their outcome is unknown and they will not be run again`);
}

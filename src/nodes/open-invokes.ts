import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { isRecord } from "../base/records.ts";
import { clip } from "../base/text.ts";
import type { EventPayload, MethodParams } from "../protocol/index.ts";
import { disconnectedText } from "./disconnected.ts";
import { nodeName } from "./find-node.ts";
import type { NodeRegistry, NodeSession } from "./registry.ts";

type InvokeRequest = MethodParams<"node.invoke">;
type NodeAnswer = MethodParams<"node.invoke.result">;
export type NodeProgress = MethodParams<"node.invoke.progress">;
/** Why a command is ended before its answer; also what the node is sent. */
export type CancelReason = EventPayload<"node.invoke.cancel">["reason"];

/** How an invoke ended, as it is stored. */
export type Outcome =
  | { readonly ok: true; readonly payload?: unknown; readonly payloadJSON?: string | null }
  | { readonly ok: false; readonly message: string; readonly details: Readonly<Record<string, unknown>> };

/** What is sent to a node, and how its caller ends it. */
export interface Sending {
  readonly node: NodeSession;
  readonly request: InvokeRequest;
  readonly params: unknown;
  /** Its reason is a {@link CancelReason}. */
  readonly cancel: AbortSignal;
  /** Text that the node sends while the command runs; it is asked for it when this is there. */
  readonly onProgress?: ((seq: number, chunk: string) => void) | undefined;
}

/** Requests that are on their way to nodes. An answer counts on the connection that the request went to. */
export interface OpenInvokes {
  /** Takes a place until it is given back. Throws `OVERLOADED` when the node, or all of them, have too many. */
  reserve(nodeId: string): Disposable;
  /** Sends the request and waits for the first of answer, time-out, disconnect and cancel. */
  send(sending: Sending): Promise<Outcome>;
  /** A node's answer; false when nobody waits for it. */
  answer(answer: NodeAnswer, connId: string): boolean;
  /** An answer that does not fit the protocol ends the command it was for, as far as that can be seen. */
  unreadable(answer: unknown, connId: string, problem: string): void;
  /** False when nobody waits for it. */
  progress(progress: NodeProgress, connId: string): boolean;
}

interface Open {
  readonly node: NodeSession;
  readonly command: string;
  readonly end: (outcome: Outcome, cancelled?: CancelReason) => void;
  readonly onProgress: Sending["onProgress"];
  /** The last number of a piece of text, and how much came. */
  seq: number;
  chars: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MOST_TIMEOUT_MS = 24 * 60 * 60_000;
/** Invokes that one node, and all of them together, may have open. */
const MOST_OPEN_PER_NODE = 64;
const MOST_OPEN = 2000;
const MOST_MESSAGE = 4000;
/** Characters of progress that are passed on per command, with what an event takes besides. */
const MOST_PROGRESS = 4_000_000;
const EVENT_CHARS = 200;

export const failed = (message: string, details: Readonly<Record<string, unknown>>): Outcome => ({ ok: false, message, details });

const TIMED_OUT = failed("node invoke timed out", { code: "TIMEOUT", nodeError: { code: "TIMEOUT", message: "node invoke timed out" } });

function cancelled(reason: CancelReason, isSent: boolean): Outcome {
  const why = reason === "caller-gone" ? "its caller disconnected" : "its caller cancelled it";
  return failed(`the command was cancelled: ${why}`, { code: "CANCELLED", outcome: isSent ? "unknown" : "not-run" });
}

function outcomeOf({ ok, payload, payloadJSON, error }: NodeAnswer): Outcome {
  if (!ok) {
    const message = clip(error?.message ?? "the node reported a failure without a reason", MOST_MESSAGE);
    return failed(message, { nodeError: { code: clip(error?.code ?? "UNAVAILABLE", 100), message } });
  }
  return { ok: true, ...(payload === undefined ? {} : { payload }), ...(payloadJSON === undefined ? {} : { payloadJSON }) };
}

/** Nothing, and an empty text, are an answer without a payload. */
function isJson(text: string | null | undefined): boolean {
  if (text === undefined || text === null || text === "") return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function unreadableOutcome({ node, command }: Open, problem: string): Outcome {
  const text = `the node ${nodeName(node)} sent a response to ${command} that does not match the protocol (${clip(problem, 300)}), so its outcome is unknown; check the node before you run it again`;
  return failed(text, { code: "INVALID_ANSWER", outcome: "unknown", nodeId: node.nodeId });
}

/** Places for open commands, per node and in all. */
function createPlaces(): OpenInvokes["reserve"] {
  const reserved = new Map<string, number>();
  let total = 0;
  function giveBack(nodeId: string): void {
    const left = (reserved.get(nodeId) ?? 1) - 1;
    if (left === 0) reserved.delete(nodeId);
    else reserved.set(nodeId, left);
    total -= 1;
  }
  return (nodeId) => {
    const own = reserved.get(nodeId) ?? 0;
    if (own < MOST_OPEN_PER_NODE && total < MOST_OPEN) {
      reserved.set(nodeId, own + 1);
      total += 1;
      return { [Symbol.dispose]: () => giveBack(nodeId) };
    }
    const whose = own < MOST_OPEN_PER_NODE ? "all nodes" : "this node";
    throw new AppError("OVERLOADED", `too many commands are open on ${whose}; wait for one of them`, { details: { retryAfterMs: 1000 } });
  };
}

export function createOpenInvokes({ registry, clock, ids }: { readonly registry: NodeRegistry; readonly clock: Clock; readonly ids: Ids }): OpenInvokes {
  const open = new Map<string, Open>();
  const of = (connId: string): readonly Open[] => [...open.values()].filter(({ node }) => node.link.connId === connId);
  /** The command that an answer on this connection is for. */
  function named(id: unknown, connId: string): Open | undefined {
    const one = typeof id === "string" ? open.get(id) : undefined;
    return one?.node.link.connId === connId ? one : undefined;
  }
  registry.onGone(({ link: { connId } }) => {
    for (const { command, end } of of(connId)) end(failed(disconnectedText(command), { code: "DISCONNECTED", outcome: "unknown" }));
  });

  return {
    reserve: createPlaces(),
    async send({ node, request, params, cancel, onProgress }) {
      const { command, idempotencyKey } = request;
      const { nodeId, link } = node;
      if (cancel.aborted) return cancelled(cancel.reason as CancelReason, false);
      const id = ids.uuid();
      const timeoutMs = Math.min(request.timeoutMs ?? DEFAULT_TIMEOUT_MS, MOST_TIMEOUT_MS);
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      const end: Open["end"] = (outcome, reason) => {
        if (!open.delete(id)) return;
        timer[Symbol.dispose]();
        cancel.removeEventListener("abort", onCancel);
        if (reason !== undefined) link.send("node.invoke.cancel", { id, nodeId, reason });
        resolve(outcome);
      };
      const timer = clock.after(timeoutMs, () => end(TIMED_OUT, "timeout"));
      const onCancel = (): void => end(cancelled(cancel.reason as CancelReason, true), cancel.reason as CancelReason);
      open.set(id, { node, command, end, onProgress, seq: -1, chars: 0 });
      cancel.addEventListener("abort", onCancel, { once: true });
      const paramsJSON = params === undefined ? null : JSON.stringify(params);
      const sent = { id, nodeId, command, paramsJSON, timeoutMs, idempotencyKey, ...(onProgress ? { progress: true } : {}) };
      if (registry.get(nodeId) !== node || !link.send("node.invoke.request", sent)) end(failed(disconnectedText(command), { code: "DISCONNECTED" }));
      return promise;
    },
    answer(answer, connId) {
      const one = named(answer.id, connId);
      if (one?.node.nodeId !== answer.nodeId) return false;
      const isReadable = !answer.ok || isJson(answer.payloadJSON);
      one.end(isReadable ? outcomeOf(answer) : unreadableOutcome(one, "payloadJSON is not JSON"));
      return true;
    },
    unreadable(answer, connId, problem) {
      const id = isRecord(answer) ? answer["id"] : undefined;
      const all = of(connId);
      // Without an id it can only be the one that is open.
      const one = named(id, connId) ?? (typeof id !== "string" && all.length === 1 ? all[0] : undefined);
      one?.end(unreadableOutcome(one, problem));
    },
    progress({ invokeId, nodeId, seq, chunk }, connId) {
      const one = named(invokeId, connId);
      if (one?.onProgress === undefined || one.node.nodeId !== nodeId || seq <= one.seq || one.chars > MOST_PROGRESS) return false;
      one.seq = seq;
      one.chars += chunk.length + EVENT_CHARS;
      one.onProgress(seq, chunk);
      return true;
    },
  };
}

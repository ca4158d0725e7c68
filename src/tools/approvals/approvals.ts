import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Ids } from "../../base/ids.ts";
import { clip } from "../../base/text.ts";
import type { ApprovalRow, CommandOutcome, Store } from "../../store/index.ts";
import type { ApprovalDecision, AskApproval } from "../broker/approval.ts";
import type { Processes } from "../process/processes.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 10 * 60_000;
const DECISIONS = ["allow-once", "allow-always", "deny"] as const;
export type OperatorDecision = (typeof DECISIONS)[number];

export interface ApprovalRequest {
  /** `exec` or `plugin`. */
  readonly kind: string;
  /** What is asked, as it is stored and shown. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly id?: string;
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly turnId?: string;
  readonly timeoutMs?: number;
  /** All when absent. */
  readonly allowed?: readonly OperatorDecision[];
}

/** A question that was written down and waits. */
export interface PendingApproval {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Never rejects: what goes wrong is `cancelled`. */
  readonly decision: Promise<ApprovalDecision>;
}

/** A question that nobody has answered yet. */
export interface OpenApproval {
  readonly id: string;
  readonly kind: string;
  readonly request: Readonly<Record<string, unknown>>;
}

export type ApprovalNotice =
  | {
      readonly type: "requested";
      readonly id: string;
      readonly kind: string;
      readonly request: unknown;
      readonly createdAt: number;
      readonly expiresAt: number;
      readonly allowed: readonly OperatorDecision[];
    }
  | {
      readonly type: "resolved";
      readonly id: string;
      readonly kind: string;
      readonly request: unknown;
      readonly decision: ApprovalDecision;
      readonly by: string | null;
      readonly at: number;
    };

/** Questions to the operator. They are durable; the permission is not: after a restart every open one is denied. */
export interface Approvals extends Disposable {
  request(asked: ApprovalRequest, signal?: AbortSignal): Promise<PendingApproval>;
  /** The broker's question. */
  readonly ask: AskApproval;
  /** The first decision holds. The beginning of an id will do. `NOT_FOUND` for ids that are unknown, late or of an earlier start. */
  resolve(id: string, decision: string, by?: string): Promise<void>;
  /** Keeps what became of a command that was asked about. */
  recordOutcome(id: string, sessionKey: string, outcome: CommandOutcome): Promise<void>;
  list(kind?: string): Promise<readonly ApprovalRow[]>;
  /** Requests that are over, the newest end first: as many as the limit, and what ended together with the last. */
  history(page: { readonly limit: number; readonly before?: number | undefined }): Promise<readonly ApprovalRow[]>;
  /** Outcomes that a session is still to be notified about, oldest first. */
  open(sessionKey: string): readonly OpenApproval[];
  /** Ends what an earlier start left open. Returns how many there were. */
  denyFormer(): Promise<number>;
  /** Receives every question and how it ended. */
  onNotice(listener: (notice: ApprovalNotice) => void): Disposable;
}

export interface ApprovalsDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly notify?: (notice: ApprovalNotice) => void;
}

interface Waiting {
  readonly kind: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly sessionKey: string | undefined;
  readonly allowed: readonly OperatorDecision[];
  readonly timer: Disposable;
  readonly end: (decision: ApprovalDecision, by: string | null) => void;
}

const SLUG_CHARS = 8;

/** The beginning of an id, as agents and chats are shown it and people write it. */
export const approvalSlug = (id: string): string => id.slice(0, SLUG_CHARS);

/** The id that is meant: people write the beginning of it that they were shown. */
function whole(written: string, ids: readonly string[]): string {
  if (written.length < SLUG_CHARS) return written;
  const [meant, ...others] = ids.filter((id) => id.startsWith(written));
  return meant === undefined || others.length > 0 ? written : meant;
}

/** Ends the questions that do not wait in this process, and tells of each. */
async function denyFormer(
  store: ApprovalsDeps["store"],
  now: number,
  isWaiting: (id: string) => boolean,
  notify: (notice: ApprovalNotice) => void,
): Promise<number> {
  const former = (await store.read("approvals.pending", {})).filter(({ id }) => !isWaiting(id));
  await store.write("approvals.expire", {});
  for (const { id, kind, request, expiresAt } of former) {
    const late = expiresAt <= now;
    if (!late) await store.write("approvals.decide", { id, decision: "deny", by: "restart" });
    notify({ type: "resolved", id, kind, request, decision: late ? "timeout" : "deny", by: late ? null : "restart", at: now });
  }
  return former.filter(({ expiresAt }) => expiresAt > now).length;
}

function requestOf(question: Parameters<AskApproval>[0]): ApprovalRequest {
  const { context, timeoutMs, allowedDecisions, ...shown } = question;
  return {
    kind: question.pluginId === undefined ? "tool" : "plugin",
    request: { ...shown, agentId: context.agentId, sessionKey: context.sessionKey },
    sessionKey: context.sessionKey,
    agentId: context.agentId,
    turnId: context.runId,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(allowedDecisions === undefined ? {} : { allowed: allowedDecisions }),
  };
}

export function createApprovals({ store, clock, ids, ...deps }: ApprovalsDeps): Approvals {
  const listeners = new Set<(notice: ApprovalNotice) => void>(deps.notify ? [deps.notify] : []);
  const notify = (notice: ApprovalNotice): void => {
    for (const listener of listeners) listener(notice);
  };
  // Only who asked in this process may be answered.
  const waiting = new Map<string, Waiting>();

  async function request(asked: ApprovalRequest, signal?: AbortSignal): Promise<PendingApproval> {
    const id = asked.id ?? ids.uuid();
    const { kind, sessionKey, agentId, turnId } = asked;
    if (waiting.has(id)) throw new AppError("CONFLICT", `approval ${id} was already requested`, { details: { id } });
    const timeoutMs = Math.min(Math.max(asked.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1), MAX_TIMEOUT_MS);
    const createdAt = clock.now();
    const expiresAt = createdAt + timeoutMs;
    await store.write("approvals.request", { id, kind, request: asked.request, expiresAt, sessionKey, agentId, turnId });
    const decided = Promise.withResolvers<ApprovalDecision>();
    const cancel = (): void => void close("cancelled");
    const timer = clock.after(timeoutMs, () => void close("timeout"));

    function end(decision: ApprovalDecision, by: string | null): void {
      if (!waiting.delete(id)) return;
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", cancel);
      decided.resolve(decision);
      notify({ type: "resolved", id, kind, request: asked.request, decision, by, at: clock.now() });
    }

    /** Nobody decided. A later decision finds it closed, here at once and in the store as soon as it is written. */
    async function close(decision: "timeout" | "cancelled"): Promise<void> {
      end(decision, null);
      try {
        if (decision === "timeout") await store.write("approvals.expire", {});
        else await store.write("approvals.decide", { id, decision });
      } catch {
        // A decision was written first, or the store failed; neither lets the command run.
      }
    }

    const allowed = asked.allowed ?? DECISIONS;
    waiting.set(id, { kind, request: asked.request, sessionKey, allowed, timer, end });
    notify({ type: "requested", id, kind, request: asked.request, createdAt, expiresAt, allowed });
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    return { id, createdAt, expiresAt, decision: decided.promise };
  }

  return {
    request,
    async ask(question, signal) {
      const { decision } = await request(requestOf(question), signal);
      return decision;
    },
    async resolve(written, decision, by) {
      const id = whole(written, [...waiting.keys()]);
      const one = waiting.get(id);
      if (!one) throw new AppError("NOT_FOUND", "unknown approval id", { details: { id } });
      const known = one.allowed.find((allowed) => allowed === decision);
      if (known === undefined) throw new AppError("INVALID_INPUT", `decision is ${JSON.stringify(decision)}; expected ${one.allowed.join(", ")}`);
      await store.write("approvals.decide", { id, decision: known, by });
      failpoint("approval.decided");
      // It may have ended while this was written: then the end counts, for nothing ran.
      if (!waiting.has(id)) throw new AppError("NOT_FOUND", "unknown approval id", { details: { id } });
      one.end(known, by ?? null);
    },
    recordOutcome: (id, sessionKey, outcome) => store.write("approvals.outcome", { id, sessionKey, outcome }),
    list: async (kind) => (await store.read("approvals.pending", { kind })).filter((row) => waiting.has(row.id)),
    history: (page) => store.read("approvals.history", page),
    open: (sessionKey) => [...waiting].flatMap(([id, one]) => (one.sessionKey === sessionKey ? [{ id, kind: one.kind, request: one.request }] : [])),
    denyFormer: () => denyFormer(store, clock.now(), (id) => waiting.has(id), notify),
    onNotice(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    // Open questions stay on disk: the next start denies them.
    [Symbol.dispose]() {
      for (const { timer } of waiting.values()) timer[Symbol.dispose]();
      waiting.clear();
      listeners.clear();
    },
  };
}

const SHOWN_CHARS = 500;

type Running = Pick<ReturnType<Processes["list"]>[number], "id" | "command" | "end">;

/** What a session waits for, one line each: commands in the background, and questions that are still open. */
export function pendingWork(processes: readonly Running[], approvals: readonly OpenApproval[]): readonly string[] {
  return [
    ...processes.flatMap(({ id, command, end }) => (end ? [] : [`background process ${id}: ${command}`])),
    ...approvals.map(({ id, request }) => `waiting for approval ${id}: ${subjectOf(request)}`),
  ];
}

function subjectOf({ command, title, toolName }: OpenApproval["request"]): string {
  const text = [command, title, toolName].find((part): part is string => typeof part === "string" && part !== "");
  return clip((text ?? "(not specified)").replace(/\s+/g, " "), SHOWN_CHARS);
}

import { readableKey, type MethodResult } from "openclaw/client";
import { createSignal, type Signal } from "../../base/signal.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { titleOf, type SessionRow } from "./sidebar-groups.ts";

type Asked = MethodResult<"exec.approval.list">["approvals"][number];
/** A request that waits for a decision. `until`: when it expires, by this page's own clock: that of the computer may be wrong. */
export type Approval = Asked & { readonly until: number };
export type Decision = "allow-once" | "allow-always" | "deny";

export interface ApprovalsState {
  readonly waiting: readonly Approval[];
  /** Being sent to the gateway. */
  readonly deciding: ReadonlySet<string>;
  /** What became of requests that this page did not decide about. They go away by themselves. */
  readonly notes: readonly { readonly id: string; readonly text: string; readonly sessionKey: string | null }[];
}

/** The requests for approval, in step with the gateway. */
export interface Approvals extends Disposable {
  readonly state: Signal<ApprovalsState>;
  load(): Promise<void>;
  /** Rejects when the gateway does not take it: it expired, or someone else was faster. */
  decide(id: string, decision: Decision): Promise<void>;
}

const NOTE_MS = 12_000;
const DONE: Readonly<Record<Decision, string>> = { "allow-once": "was allowed once", "allow-always": "is always allowed now", deny: "was denied" };

const shortly = (command: string): string => (command.length > 60 ? `${command.slice(0, 60)}…` : command);

/** A conversation in which something waits. */
export interface Elsewhere {
  readonly key: string;
  readonly name: string;
  readonly count: number;
}

function nameIn(rows: readonly SessionRow[], key: string): string {
  const row = rows.find((one) => one.key === key);
  return row ? titleOf(row) : readableKey(key);
}

/** The other conversations in which something waits, as the list calls them. */
export function elsewhere(waiting: readonly Approval[], here: string, rows: readonly SessionRow[]): readonly Elsewhere[] {
  const counts = new Map<string, number>();
  for (const { request } of waiting) {
    const key = request.sessionKey;
    if (key !== null && key !== here) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => ({ key, count, name: nameIn(rows, key) }));
}

export interface ApprovalsDeps {
  readonly link: Pick<Link, "has" | "may" | "request" | "on">;
  /** Milliseconds that pass evenly; when they began does not matter. */
  readonly now: () => number;
  readonly later: (work: () => void, ms: number) => void;
}

export function createApprovals({ link, now, later }: ApprovalsDeps): Approvals {
  const state = createSignal<ApprovalsState>({ waiting: [], deciding: new Set(), notes: [] });
  const change = (part: Partial<ApprovalsState>): void => state.update((known) => ({ ...known, ...part }));
  const drop = (id: string): void => change({ waiting: state.value.waiting.filter((one) => one.id !== id) });

  function note({ id, request }: Approval, text: string): void {
    drop(id);
    change({ notes: [...state.value.notes.slice(-2), { id, text: `“${shortly(request.command)}” ${text}`, sessionKey: request.sessionKey }] });
    later(() => change({ notes: state.value.notes.filter((one) => one.id !== id) }), NOTE_MS);
  }

  function expire({ id }: Pick<Approval, "id">): void {
    const approval = state.value.waiting.find((known) => known.id === id);
    if (!approval) return;
    // It was reported again since.
    if (approval.until > now()) return later(() => expire(approval), approval.until - now());
    note(approval, "was not decided in time and does not run");
  }

  /** `serverNow`: the gateway's time when it reported this. */
  function add(asked: Asked, serverNow: number): void {
    const { waiting } = state.value;
    const approval = { ...asked, until: now() + asked.expiresAtMs - serverNow };
    const known = waiting.some(({ id }) => id === asked.id);
    if (known) return change({ waiting: waiting.map((one) => (one.id === asked.id ? approval : one)) });
    change({ waiting: [...waiting, approval] });
    later(() => expire(approval), Math.max(0, approval.until - now()));
  }

  const events = [
    link.on("exec.approval.requested", (asked) => add({ kind: "exec", ...asked }, asked.createdAtMs)),
    link.on("exec.approval.resolved", ({ id, decision, resolvedBy }) => {
      const one = state.value.waiting.find((known) => known.id === id);
      if (!one) return;
      if (state.value.deciding.has(id)) return drop(id);
      note(one, `${DONE[decision]}${resolvedBy === null ? " elsewhere" : ` by ${resolvedBy}`}`);
    }),
  ];

  return {
    state,
    async load() {
      if (!link.has("exec.approval.list") || !link.may("operator.approvals")) return;
      const { approvals, nowMs } = await link.request("exec.approval.list", {});
      const there = new Set(approvals.map(({ id }) => id));
      for (const gone of state.value.waiting.filter(({ id }) => !there.has(id))) note(gone, "was decided elsewhere");
      for (const asked of approvals) add(asked, nowMs ?? asked.createdAtMs);
    },
    async decide(id, decision) {
      change({ deciding: new Set([...state.value.deciding, id]) });
      try {
        await link.request("exec.approval.resolve", { id, decision });
        drop(id);
      } catch (error) {
        const one = state.value.waiting.find((known) => known.id === id);
        if (one && /not found|expired|unknown approval/i.test(failureText(error))) return note(one, "was already decided, or ran out of time");
        throw error;
      } finally {
        change({ deciding: new Set([...state.value.deciding].filter((other) => other !== id)) });
      }
    },
    [Symbol.dispose]() {
      for (const event of events) event[Symbol.dispose]();
    },
  };
}

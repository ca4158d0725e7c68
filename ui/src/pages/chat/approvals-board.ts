import type { MethodResult } from "openclaw/client";
import { createSignal, type Signal } from "../../base/signal.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";

/** Something that waits for somebody's word. */
export type Approval = MethodResult<"exec.approval.list">["approvals"][number];
export type Decision = "allow-once" | "allow-always" | "deny";

export interface ApprovalsState {
  readonly waiting: readonly Approval[];
  /** Being told to the gateway. */
  readonly deciding: ReadonlySet<string>;
  /** What became of requests that this page did not decide about. They go away by themselves. */
  readonly notes: readonly { readonly id: string; readonly text: string; readonly sessionKey: string | null }[];
}

/** The requests for approval, in step with the gateway. */
export interface Approvals extends Disposable {
  readonly state: Signal<ApprovalsState>;
  load(): Promise<void>;
  /** Rejects when the gateway does not take it: it expired, or somebody was faster. */
  decide(id: string, decision: Decision): Promise<void>;
}

const NOTE_MS = 12_000;
const DONE: Readonly<Record<Decision, string>> = { "allow-once": "was allowed once", "allow-always": "is always allowed now", deny: "was denied" };

const shortly = (command: string): string => (command.length > 60 ? `${command.slice(0, 60)}…` : command);

/** Those that have not run out at `now`. */
export const alive = (waiting: readonly Approval[], now: number): readonly Approval[] => waiting.filter(({ expiresAtMs }) => expiresAtMs > now);

export interface ApprovalsDeps {
  readonly link: Pick<Link, "has" | "may" | "request" | "on">;
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

  function expire(approval: Approval): void {
    if (!state.value.waiting.some(({ id }) => id === approval.id)) return;
    note(approval, "was not decided in time and does not run");
  }

  function add(approval: Approval): void {
    if (state.value.waiting.some(({ id }) => id === approval.id)) return;
    change({ waiting: [...state.value.waiting, approval] });
    later(() => expire(approval), Math.max(0, approval.expiresAtMs - now()));
  }

  const events = [
    link.on("exec.approval.requested", (asked) => add({ kind: "exec", ...asked })),
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
      const { approvals } = await link.request("exec.approval.list", {});
      const there = new Set(approvals.map(({ id }) => id));
      for (const gone of state.value.waiting.filter(({ id }) => !there.has(id))) note(gone, "was decided elsewhere");
      for (const approval of alive(approvals, now())) add(approval);
    },
    async decide(id, decision) {
      change({ deciding: new Set([...state.value.deciding, id]) });
      try {
        await link.request("exec.approval.resolve", { id, decision });
        drop(id);
      } catch (error) {
        const one = state.value.waiting.find((known) => known.id === id);
        if (one && /not found|expired/i.test(failureText(error))) return note(one, "was already decided, or ran out of time");
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

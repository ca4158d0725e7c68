import { readableKey, type MethodResult } from "openclaw/client";
import { createSignal, type Signal, type WritableSignal } from "../../base/signal.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { isOut } from "../../link/state.ts";
import { titleOf, type SessionRow } from "./sidebar-groups.ts";
import { t } from "../../words/words.ts";

type Asked = MethodResult<"exec.approval.list">["approvals"][number];
/** A request that waits for a decision. `until`: when it expires, by this page's own clock: that of the computer may be wrong. */
export type Approval = Asked & { readonly until: number };
export type Decision = "allow-once" | "allow-always" | "deny";

export interface ApprovalsState {
  readonly waiting: readonly Approval[];
  /** Sessions that ask. Those of jobs are in no list that the page has, and are known by the name of the job. */
  readonly sessions: readonly SessionRow[];
  /** Why the list could not be loaded: `waiting` may lack some. */
  readonly failure?: string | undefined;
  /** Being sent to the gateway. */
  readonly deciding: ReadonlySet<string>;
  /** What became of requests that this page did not decide about. They go away by themselves. */
  readonly notes: readonly { readonly id: string; readonly text: string; readonly sessionKey: string | null }[];
}

/** The requests for approval, in step with the gateway: the one place of the page that knows them. */
export interface Approvals {
  readonly state: Signal<ApprovalsState>;
  load(): Promise<void>;
  /** Rejects when the gateway does not take it: it expired, or someone else was faster. */
  decide(id: string, decision: Decision): Promise<void>;
}

const NOTE_MS = 12_000;
/** Sessions that have a key in theirs, at most. */
const MOST_ALIKE = 20;
const MOST_SESSIONS = 100;
const DONE: Readonly<Record<Decision, string>> = { "allow-once": t("was allowed once"), "allow-always": t("is now always allowed"), deny: t("was denied") };

/** Who denies what was open when the gateway stopped. */
const RESTART = "restart";
const RESTARTED = t("did not run: the gateway restarted");

/** How a request ended that this page did not see end. */
function endOf({ state, decision, decidedBy }: MethodResult<"exec.approval.history">["entries"][number]): string {
  if (decidedBy === RESTART) return RESTARTED;
  if (state === "expired") return t("was not approved in time and will not run");
  if (state === "cancelled") return t("was withdrawn");
  const done = DONE[decision as Decision];
  return done === undefined ? t("is no longer waiting") : `${done}${decidedBy === null ? t(" elsewhere") : t` by ${decidedBy}`}`;
}

/** What became of requests while this page was not connected, as far as the gateway tells. */
async function endings(link: ApprovalsDeps["link"], gone: readonly Approval[]): Promise<readonly (readonly [Approval, string])[]> {
  const asked = link.has("exec.approval.history") ? await link.request("exec.approval.history", { limit: 200 }).catch(() => undefined) : undefined;
  if (isOut(link.state.value)) return [];
  return gone.map((one) => {
    const entry = asked?.entries?.find(({ id }) => id === one.id);
    return [one, entry ? endOf(entry) : t("is no longer waiting")];
  });
}

const shortly = (command: string): string => (command.length > 60 ? `${command.slice(0, 60)}…` : command);

/** A conversation in which something waits. */
export interface Elsewhere {
  readonly key: string;
  readonly name: string;
  readonly count: number;
}

/** Requests that are decided in a conversation: its own, and those of none. */
export const waitingIn = (waiting: readonly Approval[], sessionKey: string): readonly Approval[] =>
  waiting.filter(({ request }) => request.sessionKey === null || request.sessionKey === sessionKey);

/** What a conversation is called, as the list calls it. */
export function nameIn(rows: readonly SessionRow[], key: string): string {
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
  readonly link: Pick<Link, "has" | "may" | "request" | "on" | "onFresh" | "state">;
  /** Milliseconds that pass evenly; when they began does not matter. */
  readonly now: () => number;
  readonly later: (work: () => void, ms: number) => void;
}

/** Asks what a session is called in which something waits. */
async function learnName(link: ApprovalsDeps["link"], state: WritableSignal<ApprovalsState>, key: string | null): Promise<void> {
  if (key === null || state.value.sessions.some((row) => row.key === key)) return;
  const narrowed = { search: key, limit: MOST_ALIKE, includeDerivedTitles: true, includeGlobal: true };
  const row = (await link.request("sessions.list", narrowed).catch(() => undefined))?.sessions.find((one) => one.key === key);
  if (!row || isOut(link.state.value)) return;
  state.update((now) => ({ ...now, sessions: [...now.sessions.filter((one) => one.key !== key), row].slice(-MOST_SESSIONS) }));
}

export function createApprovals({ link, now, later }: ApprovalsDeps): Approvals {
  const state = createSignal<ApprovalsState>({ waiting: [], sessions: [], deciding: new Set(), notes: [] });
  const change = (part: Partial<ApprovalsState>): void => state.update((known) => ({ ...known, ...part }));
  const drop = (id: string): void => change({ waiting: state.value.waiting.filter((one) => one.id !== id) });
  const clear = (): void => change({ waiting: [], sessions: [], failure: undefined, deciding: new Set(), notes: [] });
  /** Questions of plugins and tools: they are announced as such, and then for clients that know commands only. */
  const questions = new Set<string>();
  /** What was decided while the list was on its way. */
  const ended = new Set<string>();

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
    note(approval, t("was not approved in time and will not run"));
  }

  /** `serverNow`: the gateway's time when it reported this. */
  function add(asked: Asked, serverNow: number): void {
    const { waiting } = state.value;
    const approval = { ...asked, until: now() + asked.expiresAtMs - serverNow };
    const known = waiting.some(({ id }) => id === asked.id);
    if (known) return change({ waiting: waiting.map((one) => (one.id === asked.id ? approval : one)) });
    change({ waiting: [...waiting, approval] });
    void learnName(link, state, asked.request.sessionKey);
    later(() => expire(approval), Math.max(0, approval.until - now()));
  }

  async function load(): Promise<void> {
    if (!link.has("exec.approval.list") || !link.may("operator.approvals")) return clear();
    try {
      await loadList();
      change({ failure: undefined });
    } catch (error) {
      change({ failure: failureText(error) });
      throw error;
    }
  }

  async function loadList(): Promise<void> {
    const before = state.value.waiting;
    ended.clear();
    const { approvals, nowMs } = await link.request("exec.approval.list", {});
    const there = new Set(approvals.map(({ id }) => id));
    // What was asked meanwhile is not on the list yet.
    const gone = before.filter(({ id }) => !there.has(id) && !ended.has(id));
    for (const { id } of gone) drop(id);
    for (const asked of approvals) if (!ended.has(asked.id)) add(asked, nowMs ?? asked.createdAtMs);
    if (gone.length > 0) void endings(link, gone).then((ends) => ends.forEach(([one, text]) => note(one, text)));
  }

  link.on("plugin.approval.requested", ({ id }) => void questions.add(id));
  link.on("exec.approval.requested", (asked) => add({ kind: questions.delete(asked.id) ? "plugin" : "exec", ...asked }, asked.createdAtMs));
  link.on("exec.approval.resolved", ({ id, decision, resolvedBy }) => {
    ended.add(id);
    const one = state.value.waiting.find((known) => known.id === id);
    if (!one) return;
    if (state.value.deciding.has(id)) return drop(id);
    if (resolvedBy === RESTART) return note(one, RESTARTED);
    note(one, `${DONE[decision]}${resolvedBy === null ? t(" elsewhere") : t` by ${resolvedBy}`}`);
  });
  // The next connection asks again.
  link.onFresh(() => void load().catch(() => undefined));
  // They are not shown to the user who signs in next.
  link.state.subscribe((now) => void (isOut(now) && clear()));

  return {
    state,
    load,
    async decide(id, decision) {
      change({ deciding: new Set([...state.value.deciding, id]) });
      try {
        await link.request("exec.approval.resolve", { id, decision });
        drop(id);
      } catch (error) {
        const one = state.value.waiting.find((known) => known.id === id);
        if (one && /not found|expired|unknown approval/i.test(failureText(error))) return note(one, t("was already decided or has expired"));
        throw error;
      } finally {
        change({ deciding: new Set([...state.value.deciding].filter((other) => other !== id)) });
      }
    },
  };
}

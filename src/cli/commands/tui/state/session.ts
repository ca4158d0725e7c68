import { agentOfKey, canonicalSessionKey, type SessionNaming } from "../../../../protocol/index.ts";
import { and, type Effect, type Next, type Note, type State } from "./state.ts";

/** Tokens in the footer's words. */
export const agentOf = (state: Pick<State, "sessionKey" | "naming">): string => agentOfKey(state.sessionKey, state.naming);

/** The one key that a written one stands for; a bare one belongs to the agent that is talked to. */
export function keyFor(written: string, naming: SessionNaming, agentId: string): string | undefined {
  return canonicalSessionKey(written, { ...naming, defaultAgentId: agentId });
}

/** A key without what everybody knows about it. */
export function shortKey(key: string): string {
  return key.replace(/^agent:[^:]+:/, "");
}

export function noted(state: State, now: number, text: string, tone: Note["tone"] = "plain", command?: string): State {
  const note: Note = { at: now + state.skew, tone, text, ...(command === undefined ? {} : { command }) };
  return { ...state, notes: [...state.notes, note].slice(-200), top: undefined };
}

/** Begins a reading of the history. */
export function reading(state: State): Next {
  const { sessionKey, preferences, methods } = state;
  const read = state.reads + 1;
  const limit = preferences.historyLimit;
  return and({ ...state, reads: read, stale: false }, { kind: "history", sessionKey, read, limit, paged: methods.has("chat.page") && limit <= 200 });
}

/** Something changed: it is read once more, however much changes until then. */
export function outdated(state: State): Next {
  return state.reads > state.read ? and({ ...state, stale: true }) : reading(state);
}

/** Everything about the session that can be out of date, asked for again. */
export function refreshed(state: State): Next {
  const { state: next, effects } = reading(state);
  const watch: readonly Effect[] = next.methods.has("chat.watch") ? [{ kind: "watch", sessionKey: next.sessionKey }] : [];
  return and(next, ...effects, ...watch, { kind: "facts", sessionKey: next.sessionKey });
}

/** Goes to another session. Messages that are not through yet stay on their way. */
export function entered(state: State, sessionKey: string): Next {
  if (sessionKey === state.sessionKey) return and(state);
  const before = agentOf(state);
  const { state: next, effects } = refreshed({
    ...state,
    sessionKey,
    history: [],
    read: state.reads,
    runs: [],
    notes: [],
    facts: {},
    top: undefined,
    aborting: false,
  });
  const agentId = agentOf(next);
  return and(next, ...effects, ...(agentId === before ? [] : [{ kind: "commands" as const, agentId }]));
}

/** Something of this session is under way. */
export function isBusy({ sent, runs, sessionKey }: State): boolean {
  return runs.some(({ outcome }) => !outcome) || sent.some((one) => one.sessionKey === sessionKey && one.state !== "failed" && one.ended === undefined);
}

import { noted } from "./session.ts";
import { and, DECISIONS, only, type Approval, type Decision, type Next, type State } from "./state.ts";

const WORDS: Readonly<Record<string, string>> = { "allow-once": "allowed once", "allow-always": "always allowed", deny: "denied" };

/** Without approvals that are gone, the keys are for the input again. */
function withApprovals(state: State, approvals: readonly Approval[]): State {
  const focus = approvals.some(({ id }) => id === state.focus?.id) ? state.focus : undefined;
  return { ...state, approvals, focus };
}

export function asked(state: State, approval: Approval): State {
  return state.approvals.some(({ id }) => id === approval.id) ? state : { ...state, approvals: [...state.approvals, approval] };
}

export function decided(state: State, id: string, decision: string, by: string | undefined, now: number): State {
  const approval = state.approvals.find((one) => one.id === id);
  const next = withApprovals(
    state,
    state.approvals.filter((one) => one !== approval),
  );
  if (!approval) return next;
  const who = approval.deciding === undefined && by !== undefined ? ` by ${by}` : "";
  return noted(next, now, `${WORDS[decision] ?? decision}${who}: ${approval.command}`, decision === "deny" ? "warn" : "plain");
}

/** The open ones, as the gateway lists them. */
export function listed(state: State, approvals: readonly Approval[]): State {
  return withApprovals(
    state,
    approvals.map((approval) => state.approvals.find(({ id }) => id === approval.id) ?? approval),
  );
}

/** There was no answer in time. */
export function expired(state: State, now: number): State {
  const over = state.approvals.filter(({ expiresAt }) => expiresAt <= now + state.skew);
  if (over.length === 0) return state;
  const open = withApprovals(
    state,
    state.approvals.filter((approval) => !over.includes(approval)),
  );
  return over.reduce((next, { command }) => noted(next, now, `Expired: ${command}`, "warn"), open);
}

export function undecided(state: State, id: string): State {
  return { ...state, approvals: state.approvals.map((one) => (one.id === id ? { ...one, deciding: undefined } : one)) };
}

/** The keys are for the oldest open question. What is chosen first changes nothing for good. */
export function focused(state: State): State {
  const first = state.approvals.find(({ deciding }) => deciding === undefined);
  return first ? { ...state, focus: { id: first.id, choice: 0 }, top: undefined } : state;
}

function decide(state: State, id: string, decision: Decision): Next {
  const approvals = state.approvals.map((one) => (one.id === id ? { ...one, deciding: decision } : one));
  return and({ ...state, approvals, focus: undefined }, { kind: "decide", id, decision });
}

/** What a key does while a question is in focus; undefined when it is not for it. */
export function approvalKey(state: State, key: string): Next | undefined {
  const { focus } = state;
  if (!focus) return undefined;
  const turn = (by: number): Next => only({ ...state, focus: { ...focus, choice: (focus.choice + by + DECISIONS.length) % DECISIONS.length } });
  if (key === "left" || key === "up" || key === "shift+tab") return turn(-1);
  if (key === "right" || key === "down" || key === "tab") return turn(1);
  if (key === "escape" || key === "ctrl+c") return only({ ...state, focus: undefined });
  const decision = DECISIONS[focus.choice];
  return key === "enter" && decision ? decide(state, focus.id, decision) : undefined;
}

const LETTERS: Readonly<Record<string, Decision>> = { y: "allow-once", a: "allow-always", n: "deny" };

/** A letter decides; anything else goes on with the message. */
export function approvalText(state: State, text: string): Next | undefined {
  if (!state.focus) return undefined;
  const decision = LETTERS[text.toLowerCase()];
  return decision ? decide(state, state.focus.id, decision) : undefined;
}

import { openPicker } from "./picker.ts";
import { and, only, type Context, type Next, type Sent, type State } from "./state.ts";

/** Sends a message. It stays in the log until the history has it, and is sent again until it is answered. */
export function sendMessage(state: State, text: string, { now, newId }: Context): Next {
  const { sessionKey, history, preferences, skew } = state;
  const after = history.reduce((newest, { at }) => Math.max(newest, at), 0);
  const sent: Sent = { runId: newId(), sessionKey, text, at: now + skew, after, state: "sending" };
  return and({ ...state, sent: [...state.sent, sent], top: undefined }, { kind: "send", sent, preferences });
}

/** A command for this machine: asked about once. */
export function runShell(state: State, command: string): Next {
  if (state.shell.running !== undefined) return only(state);
  if (state.shell.allowed) return and({ ...state, shell: { ...state.shell, running: command }, top: undefined }, { kind: "shell", command });
  const items = [
    { value: "no", label: "no", detail: "Don't run" },
    { value: "yes", label: "yes", detail: "Run, and don't ask again until I exit" },
  ];
  return only({ ...state, picker: openPicker("shell", "Run this command on this machine?", { items, command }) });
}

const MOST_PAST = 500;

/** Enter: a message, a command, or something for this machine. */
export function submitted(state: State, context: Context, runSlash: (state: State, text: string, context: Context) => Next): Next {
  const { text } = state.editor;
  if (text.trim() === "") return only(state);
  const past = state.past.at(-1) === text ? state.past : [...state.past, text].slice(-MOST_PAST);
  const next: State = { ...state, editor: { text: "", cursor: 0 }, past, recall: undefined, completion: undefined };
  if (/^!\S/.test(text)) return runShell(next, text.slice(1).trim());
  if (/^\/[a-z]/i.test(text)) return runSlash(next, text.trimEnd(), context);
  return sendMessage(next, text, context);
}

/** The gateway took a message, or had it already. */
export function accepted(state: State, runId: string, ended: boolean): State {
  const sent = state.sent.map((one) => (one.runId === runId ? { ...one, state: "accepted" as const, ...(ended ? { ended: state.reads } : {}) } : one));
  return { ...state, sent };
}

/** The gateway refused a message: the reason is shown, and Up brings the text back. */
export function refused(state: State, runId: string, error: string): State {
  const sent = state.sent.map((one) => (one.runId === runId ? { ...one, state: "failed" as const, error, ended: undefined } : one));
  return { ...state, sent };
}

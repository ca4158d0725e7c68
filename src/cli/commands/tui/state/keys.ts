import { clean } from "../text/clean.ts";
import type { Input } from "../terminal/decoder.ts";
import { approvalKey, approvalText, focused } from "./approvals.ts";
import { completions } from "./completion.ts";
import { edit, editorWith, EMPTY, insert, vertical, type Editor } from "./editor.ts";
import { pickerKey, pickerText, wantedItems } from "./picker.ts";
import { chosen, opened, runSlash } from "./slash.ts";
import { submitted } from "./sending.ts";
import { isBusy, reading } from "./session.ts";
import { and, only, type Context, type Next, type State } from "./state.ts";

/** Twice within this time leaves. */
const TWICE_MS = 2000;
const WHEEL_LINES = 3;

const leave = (state: State): Next => and({ ...state, leaving: true }, { kind: "exit" });

/** Moves what is shown of the log; at its end it follows again. */
function scrolled(state: State, by: number, { lines, height }: Context["layout"]): State {
  const last = Math.max(0, lines - height);
  const top = Math.max(0, Math.min(last, state.top ?? last) + by);
  return { ...state, top: top >= last ? undefined : top };
}

/** The input changed: completions are computed again. */
function typed(state: State, editor: Editor): State {
  const completion = /^\/\S*(?:\s+\S*)?$/.test(editor.text) ? { selected: 0, touched: false } : undefined;
  return { ...state, editor, completion, armedAt: undefined };
}

function recalled(state: State, by: -1 | 1): State {
  const { past, recall } = state;
  const at = (recall?.at ?? past.length) + by;
  if (at < 0 || at > past.length || (recall === undefined && by > 0)) return state;
  const draft = recall?.draft ?? state.editor.text;
  if (at === past.length) return { ...state, recall: undefined, editor: editorWith(draft), completion: undefined };
  return { ...state, recall: { at, draft }, editor: editorWith(past[at] ?? ""), completion: undefined };
}

function upOrDown(state: State, by: -1 | 1): State {
  const { completion } = state;
  const offered = completion ? completions(state) : [];
  if (completion && offered.length > 0) {
    const selected = (completion.selected + by + offered.length) % offered.length;
    return { ...state, completion: { selected, touched: true } };
  }
  const moved = vertical(state.editor, by);
  return moved ? { ...state, editor: moved } : recalled(state, by);
}

function escape(state: State): Next {
  if (state.completion && completions(state).length > 0) return only({ ...state, completion: undefined });
  if (state.shell.running !== undefined) return and(state, { kind: "stop-shell" });
  return isBusy(state) ? and({ ...state, aborting: true }, { kind: "abort", sessionKey: state.sessionKey }) : only(state);
}

function interrupt(state: State, { now }: Context): Next {
  if (state.editor.text !== "") return only({ ...state, editor: EMPTY, recall: undefined, completion: undefined, armedAt: undefined });
  return state.armedAt !== undefined && now - state.armedAt < TWICE_MS ? leave(state) : only({ ...state, armedAt: now });
}

function tab(state: State): Next {
  const offered = state.completion ? completions(state) : [];
  const found = offered[state.completion?.selected ?? 0];
  if (found) return only(typed(state, editorWith(found.text)));
  return only(state.editor.text === "" ? focused(state) : state);
}

function enter(state: State, context: Context): Next {
  const found = state.completion?.touched ? completions(state)[state.completion.selected] : undefined;
  if (found) return only(typed(state, editorWith(found.text)));
  return submitted(state, context, runSlash);
}

type Action = (state: State, context: Context) => Next;

const ACTIONS: Readonly<Record<string, Action>> = {
  enter,
  escape,
  tab,
  up: (state) => only(upOrDown(state, -1)),
  down: (state) => only(upOrDown(state, 1)),
  "ctrl+c": interrupt,
  "ctrl+d": leave,
  "ctrl+l": (state) => opened(state, "models"),
  "ctrl+g": (state) => opened(state, "agents"),
  "ctrl+p": (state) => opened(state, "sessions"),
  "ctrl+o": (state) => only({ ...state, show: { ...state.show, tools: !state.show.tools } }),
  "ctrl+t": (state) => reading({ ...state, show: { ...state.show, thinking: !state.show.thinking } }),
  "ctrl+z": (state) => and(state, { kind: "suspend" }),
  pageup: (state, { layout }) => only(scrolled(state, 1 - layout.height, layout)),
  pagedown: (state, { layout }) => only(scrolled(state, layout.height - 1, layout)),
  "shift+up": (state, { layout }) => only(scrolled(state, -1, layout)),
  "shift+down": (state, { layout }) => only(scrolled(state, 1, layout)),
  "ctrl+home": (state) => only({ ...state, top: 0 }),
  "ctrl+end": (state) => only({ ...state, top: undefined }),
};

/** A list that the gateway has more of is asked for what is wanted now. One question is under way at a time. */
export function looking(state: State): Next {
  const wanted = state.picker && wantedItems(state.picker);
  if (!state.picker || !wanted) return only(state);
  return and({ ...state, picker: { ...state.picker, asking: true } }, { kind: "pick", what: "sessions", ...wanted });
}

function keyPressed(state: State, key: string, context: Context): Next {
  if (state.picker) {
    const answer = pickerKey(state.picker, key);
    if (answer === "closed") return only({ ...state, picker: undefined });
    return "chosen" in answer ? chosen(state, answer.chosen, context) : looking({ ...state, picker: answer.picker });
  }
  const decided = approvalKey(state, key);
  if (decided) return decided;
  const action = ACTIONS[key];
  if (action) return action(key === "ctrl+c" ? state : { ...state, armedAt: undefined }, context);
  const edited = edit(state.editor, key);
  return only(edited ? typed(state, edited) : state);
}

/** The user pressed a key or used the wheel. */
export function inputCame(state: State, input: Input, context: Context): Next {
  if (input.type === "key") return keyPressed(state, input.key, context);
  if (input.type === "wheel") return only(scrolled(state, input.up ? -WHEEL_LINES : WHEEL_LINES, context.layout));
  const text = clean(input.text);
  if (state.picker) return looking({ ...state, picker: pickerText(state.picker, text.replaceAll("\n", " ")) });
  const decided = input.type === "text" ? approvalText(state, text) : undefined;
  return decided ?? only(typed({ ...state, focus: undefined }, insert(state.editor, text)));
}

import { graphemes } from "../text/width.ts";

/** The input: its text, and where in it typing happens, in UTF-16 units. */
export interface Editor {
  readonly text: string;
  readonly cursor: number;
}

export const EMPTY: Editor = { text: "", cursor: 0 };

export const editorWith = (text: string): Editor => ({ text, cursor: text.length });

export function insert({ text, cursor }: Editor, added: string): Editor {
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

const lineStart = ({ text, cursor }: Editor): number => text.lastIndexOf("\n", cursor - 1) + 1;

function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

/** Only the line is looked at: a grapheme does not go over its end. */
function previous(editor: Editor): number {
  const start = lineStart(editor);
  if (editor.cursor === start) return Math.max(0, start - 1);
  return editor.cursor - (graphemes(editor.text.slice(start, editor.cursor)).at(-1)?.length ?? 0);
}

function next(editor: Editor): number {
  const end = lineEnd(editor);
  if (editor.cursor === end) return Math.min(editor.text.length, end + 1);
  return editor.cursor + (graphemes(editor.text.slice(editor.cursor, end))[0]?.length ?? 0);
}

function wordBefore({ text, cursor }: Editor): number {
  return cursor - (/[^\s]*\s*$/u.exec(text.slice(Math.max(0, cursor - 2000), cursor))?.[0].length ?? 0);
}

function wordAfter({ text, cursor }: Editor): number {
  return cursor + (/^\s*[^\s]*/u.exec(text.slice(cursor, cursor + 2000))?.[0].length ?? 0);
}

const at = ({ text }: Editor, cursor: number): Editor => ({ text, cursor });
const without = ({ text }: Editor, from: number, to: number): Editor => ({ text: text.slice(0, from) + text.slice(to), cursor: from });

/** The line above or below, at about the same column; undefined when there is none. */
export function vertical(editor: Editor, by: -1 | 1): Editor | undefined {
  const start = lineStart(editor);
  const column = graphemes(editor.text.slice(start, editor.cursor)).length;
  const target = by < 0 ? start - 1 : lineEnd(editor) + 1;
  if (target < 0 || target > editor.text.length) return undefined;
  const other = at(editor, target);
  const from = lineStart(other);
  const line = graphemes(editor.text.slice(from, lineEnd(other)));
  return at(editor, from + line.slice(0, column).join("").length);
}

/** What keys do to the input. */
const KEYS: Readonly<Record<string, (editor: Editor) => Editor>> = {
  left: (editor) => at(editor, previous(editor)),
  "ctrl+b": (editor) => at(editor, previous(editor)),
  right: (editor) => at(editor, next(editor)),
  "ctrl+f": (editor) => at(editor, next(editor)),
  "ctrl+left": (editor) => at(editor, wordBefore(editor)),
  "alt+left": (editor) => at(editor, wordBefore(editor)),
  "alt+b": (editor) => at(editor, wordBefore(editor)),
  "ctrl+right": (editor) => at(editor, wordAfter(editor)),
  "alt+right": (editor) => at(editor, wordAfter(editor)),
  "alt+f": (editor) => at(editor, wordAfter(editor)),
  home: (editor) => at(editor, lineStart(editor)),
  "ctrl+a": (editor) => at(editor, lineStart(editor)),
  end: (editor) => at(editor, lineEnd(editor)),
  "ctrl+e": (editor) => at(editor, lineEnd(editor)),
  backspace: (editor) => without(editor, previous(editor), editor.cursor),
  "shift+backspace": (editor) => without(editor, previous(editor), editor.cursor),
  delete: (editor) => without(editor, editor.cursor, next(editor)),
  "ctrl+w": (editor) => without(editor, wordBefore(editor), editor.cursor),
  "alt+backspace": (editor) => without(editor, wordBefore(editor), editor.cursor),
  "alt+d": (editor) => without(editor, editor.cursor, wordAfter(editor)),
  "ctrl+u": (editor) => without(editor, lineStart(editor), editor.cursor),
  "ctrl+k": (editor) => without(editor, editor.cursor, lineEnd(editor)),
  "alt+enter": (editor) => insert(editor, "\n"),
  "shift+enter": (editor) => insert(editor, "\n"),
  "ctrl+j": (editor) => insert(editor, "\n"),
};

/** The input after a key; undefined when the key does nothing to it. */
export function edit(editor: Editor, key: string): Editor | undefined {
  return KEYS[key]?.(editor);
}

import { AppError } from "../base/errors.ts";
import type { PathSegment, ValuePath } from "./document/document.ts";
import { UNSAFE_KEYS } from "./value.ts";

/**
 * Reads `a.b[0].c`. A backslash takes the next character literally (`a\.b`), and `["a.b"]` names a key in quotes. A bare number after a dot
 * is a key; where an array stands it is taken as an index.
 */
export function parsePath(text: string): PathSegment[] {
  const path: PathSegment[] = [];
  let key = "";
  let pending = false;
  const finish = (): void => {
    if (pending) path.push(key);
    key = "";
    pending = false;
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "\\" && at + 1 < text.length) {
      key += text[(at += 1)];
      pending = true;
    } else if (char === ".") {
      if (!pending && text[at - 1] !== "]") throw badPath(text, at, "an empty key");
      finish();
      if (at === text.length - 1) throw badPath(text, at, "a dot at the end");
    } else if (char === "[") {
      finish();
      const bracket = readBracket(text, at);
      path.push(bracket.segment);
      at = bracket.end;
      if (at + 1 < text.length && text[at + 1] !== "." && text[at + 1] !== "[") throw badPath(text, at + 1, "text right after ']'");
    } else {
      key += char;
      pending = true;
    }
  }
  finish();
  if (path.length === 0) throw badPath(text, 0, "no key at all");
  const unsafe = path.find((segment) => UNSAFE_KEYS.has(String(segment)));
  if (unsafe !== undefined) throw badPath(text, text.indexOf(String(unsafe)), `the key "${unsafe}", which can never be a setting`);
  return path;
}

function readBracket(text: string, open: number): { readonly segment: PathSegment; readonly end: number } {
  const quoted = /^\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]/s.exec(text.slice(open));
  if (quoted) return { segment: (quoted[1] ?? quoted[2] ?? "").replaceAll(/\\(.)/gs, "$1"), end: open + quoted[0].length - 1 };
  const close = text.indexOf("]", open);
  const inner = close < 0 ? "" : text.slice(open + 1, close).trim();
  if (inner === "") throw badPath(text, open, "a '[' without an index and ']'");
  return { segment: /^(?:0|[1-9][0-9]{0,8})$/.test(inner) ? Number(inner) : inner, end: close };
}

function badPath(text: string, at: number, found: string): AppError {
  return new AppError("INVALID_INPUT", `"${text}" is not a config path: ${found} at character ${at + 1}; write it like agents.list[0].id`);
}

/** `["a", 0, "b.c"]` → `a[0].b\.c`: the form that `parsePath` reads back. */
export function formatPath(path: ValuePath): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else if (segment === "") text += '[""]';
    else text += `${text === "" ? "" : "."}${segment.replaceAll(/[\\.[\]]/g, "\\$&")}`;
  }
  return text;
}

/** `["a", 0, "b"]` → `a.0.b`: how issues name a path; the root is the empty text. */
export function dottedPath(path: ValuePath): string {
  return path.join(".");
}

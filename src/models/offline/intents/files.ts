import { call } from "../tool-call.ts";
import type { Intent } from "../turn.ts";
import { pathIn, unquoted } from "../user-text.ts";

/** Parameter names that different tools use for the same thing. */
export const PATH = ["path", "file_path", "filePath", "file"];
export const CONTENT = ["content", "contents", "text"];
const TEXT = String.raw`"[^"]*"|'[^']*'|\x60[^\x60]*\x60|\S+`;

const readFile: Intent = {
  name: "read",
  begin(turn) {
    const asked =
      /^(?:read|show|open|display|print|cat|view|look at|look into|what(?:'s| is) in(?:side)?)(?: me)?(?: the)?(?: contents? of)?(?: the)?(?: file)?\s+(.+?)(?: file)?[?!.]*$/i.exec(
        turn.plain,
      );
    // The final period may belong to the name.
    const path = asked ? pathIn(asked[1] ?? "") : undefined;
    return path === undefined ? undefined : call(turn, "read", [{ names: PATH, value: path }]);
  },
};

interface Written {
  readonly path: string;
  readonly content: string;
}

/** Each with the groups `path` and `content`. */
const WRITE_FORMS: readonly RegExp[] = [
  /^(?:write|save)\s+(?:to|into)\s+(?:the\s+)?(?:file\s+)?(?<path>\S+?)\s*:\s*(?<content>[\s\S]+)$/i,
  /^(?:create|make|write|save)\s+(?:a\s+|the\s+)?(?:new\s+)?file\s+(?:called\s+|named\s+)?(?<path>\S+?)\s*(?:,?\s+(?:with(?: the)?(?: contents?| text| words)?|containing|saying|that says)|:)[:\s]+(?<content>[\s\S]+)$/i,
  /^(?:write|save|put|store)\s+(?<content>[\s\S]+)\s+(?:to|into|in)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?(?<path>\S+)$/i,
];

/** What to write and where; undefined when no file is named. */
export function writtenIn(plain: string): Written | undefined {
  for (const pattern of WRITE_FORMS) {
    const { path: named = "", content = "" } = pattern.exec(plain)?.groups ?? {};
    const path = named === "" ? undefined : pathIn(named);
    if (path !== undefined) return { path, content: unquoted(content) };
  }
  return undefined;
}

const writeFile: Intent = {
  name: "write",
  begin(turn) {
    const written = writtenIn(turn.plain);
    if (!written) return undefined;
    const content = written.content.endsWith("\n") ? written.content : `${written.content}\n`;
    return call(turn, "write", [
      { names: PATH, value: written.path },
      { names: CONTENT, value: content },
    ]);
  },
};

const REPLACE_IN = new RegExp(
  String.raw`^(?:replace|change)\s+(?<from>${TEXT})\s+(?:with|to|by|into)\s+(?<to>${TEXT})\s+in\s+(?:the\s+)?(?:file\s+)?(?<path>\S+)$`,
  "i",
);
const IN_REPLACE = new RegExp(
  String.raw`^in\s+(?:the\s+)?(?:file\s+)?(?<path>\S+?),?\s+(?:replace|change)\s+(?<from>${TEXT})\s+(?:with|to|by|into)\s+(?<to>${TEXT})$`,
  "i",
);

const editFile: Intent = {
  name: "edit",
  begin(turn) {
    const { path: named, from = "", to = "" } = (REPLACE_IN.exec(turn.plain) ?? IN_REPLACE.exec(turn.plain))?.groups ?? {};
    const path = named === undefined ? undefined : pathIn(named);
    if (path === undefined || unquoted(from) === "") return undefined;
    return call(turn, "edit", [
      { names: PATH, value: path },
      { names: ["oldText", "old_string", "old_text"], value: unquoted(from) },
      { names: ["newText", "new_string", "new_text"], value: unquoted(to) },
    ]);
  },
};

export const files: readonly Intent[] = [editFile, writeFile, readFile];

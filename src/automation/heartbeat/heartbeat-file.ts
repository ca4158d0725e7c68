/** HEARTBEAT.md: whether it asks for anything, and whether something changed that it asks to look at. */
import { glob, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { readRegular } from "../../base/open-below.ts";

export interface HeartbeatFile {
  readonly state: "missing" | "empty" | "filled";
  /** Files that a beat depends on, when the file says that it only needs one after a change: patterns relative to the workspace. */
  readonly watched?: readonly string[];
}

const MAX_BYTES = 1_048_576;
const MAX_WATCHED = 2000;
/** Headings, bullets and checkboxes without a word. */
const EMPTY_LINE = /^(?:#+(?:\s.*)?|[-*+](?:\s*\[[ xX]?\])?|\d+[.)]|>|-{3,}|\*{3,})$/;

/** Lines between the fences at the top: `when: changed` and, below `watch:`, patterns. */
function frontMatterOf(text: string): { readonly head: string; readonly body: string } {
  const match = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text);
  return match ? { head: match[1] ?? "", body: text.slice(match[0].length) } : { head: "", body: text };
}

function watchedIn(head: string): readonly string[] | undefined {
  if (!/^when:\s*["']?changed["']?\s*$/im.test(head)) return undefined;
  const [, list = ""] = /^watch:[ \t]*((?:\r?\n[ \t]*-[^\r\n]*)+|[^\r\n]*)/im.exec(head) ?? [];
  return list
    .replaceAll(/[[\]]/g, "")
    .split(/\r?\n|,/)
    .map((line) =>
      line
        .replace(/^\s*-/, "")
        .trim()
        .replaceAll(/^["']|["']$/g, ""),
    )
    .filter((pattern) => pattern !== "");
}

/** Comments are for people, and do not count. */
export function readHeartbeatText(text: string): HeartbeatFile {
  const { head, body } = frontMatterOf(text.replace(/^\uFEFF/, ""));
  const lines = body.replaceAll(/<!--[\s\S]*?(?:-->|$)/g, "").split(/\r?\n/);
  const isEmpty = lines.every((line) => line.trim() === "" || EMPTY_LINE.test(line.trim()));
  const watched = watchedIn(head);
  return { state: isEmpty ? "empty" : "filled", ...(watched === undefined ? {} : { watched }) };
}

export async function readHeartbeatFile(workspace: string): Promise<HeartbeatFile> {
  const path = join(workspace, "HEARTBEAT.md");
  try {
    const { size } = await stat(path);
    // One that large is not empty.
    return size > MAX_BYTES ? { state: "filled" } : readHeartbeatText((await readRegular(path)).toString("utf8"));
  } catch {
    return { state: "missing" };
  }
}

/** How HEARTBEAT.md and what it watches stand: the same text as long as nothing changed. */
export async function fingerprint(workspace: string, watched: readonly string[]): Promise<string> {
  const found = new Set(["HEARTBEAT.md"]);
  // What lies outside is not looked at.
  for (const pattern of watched.filter((one) => !isAbsolute(one) && !one.split(/[\\/]/).includes(".."))) {
    for await (const path of glob(pattern, { cwd: workspace })) {
      found.add(path);
      if (found.size >= MAX_WATCHED) break;
    }
  }
  const states = [...found].sort().map(async (path) => {
    const { mtimeMs, size } = await stat(join(workspace, path)).catch(() => ({ mtimeMs: 0, size: -1 }));
    return `${path}:${mtimeMs}:${size}`;
  });
  return (await Promise.all(states)).join("\n");
}

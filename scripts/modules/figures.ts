import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceFile } from "./sources.ts";

/** One line of the table: what was counted, and how much of it there may be. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  /** What was counted, to look it up. */
  readonly found: readonly string[];
}

const FRAGMENT_LINES = 60;

/** Small files that only one other file imports. Entry points and the files of the public SDK have importers elsewhere. */
function fragments(files: readonly SourceFile[]): readonly string[] {
  const importers = new Map<string, number>();
  for (const { imports } of files) for (const path of imports) importers.set(path, (importers.get(path) ?? 0) + 1);
  const isFragment = ({ path, lines }: SourceFile): boolean => path.startsWith("src/") && lines < FRAGMENT_LINES && importers.get(path) === 1;
  return files.filter(isFragment).map(({ path }) => path);
}

/** Pairs of folders with the same parent that import each other. */
export function cycles(files: readonly Pick<SourceFile, "path" | "imports">[]): readonly string[] {
  const arrows = new Set<string>();
  for (const { path, imports } of files) {
    const from = path.split("/").slice(0, -1);
    for (const imported of imports) {
      const to = imported.split("/").slice(0, -1);
      const shared = from.findIndex((part, at) => part !== to[at]);
      // Where the paths part: both have to be folders there.
      if (shared < 1 || to[shared] === undefined) continue;
      const parent = from.slice(0, shared).join("/");
      arrows.add(`${parent}: ${from[shared]} → ${to[shared]}`);
    }
  }
  const back = (arrow: string): string => arrow.replace(/: (.+) → (.+)$/, ": $2 → $1");
  return [...arrows].filter((arrow) => arrows.has(back(arrow)) && arrow < back(arrow)).map((arrow) => arrow.replace("→", "↔"));
}

const COMMENTS = /^\s*(?:\/\*[^]*?\*\/|\/\/.*$)/gm;

/**
 * Files of the product that name something in their code, alone in a text, in a list of words or as a key: those that a new one of its kind would have to
 * touch. Schemas of the configuration may name it: settings are called so.
 */
function naming(root: string, files: readonly SourceFile[], word: string, allowed: RegExp = /^src\/config\/schema\//): readonly string[] {
  const named = new RegExp(`(?<=["'\`\\s{,])${word.replaceAll(".", "\\.")}(?=["'\`\\s:])`);
  const isNaming = (path: string): boolean => named.test(readFileSync(join(root, path), "utf8").replaceAll(COMMENTS, ""));
  return files.filter(({ path }) => path.startsWith("src/") && !allowed.test(path) && isNaming(path)).map(({ path }) => path);
}

/** Where the state of sessions, conversations or prompts is held besides the lane that runs the session. */
const SESSION_CACHES = [
  "src/store/client/session-rows.ts",
  "src/store/change-counts.ts",
  "src/agent/turn/known-sessions.ts",
  "src/agent/turn/prompt-memo.ts",
  "src/sessions/memory.ts",
  "src/sessions/view/beginning.ts",
  "src/models/wire/remembered.ts",
];

/** What relies on how a dependency or the runtime is written inside. */
const TRICKS: Readonly<Record<string, RegExp>> = {
  "text patches in a dependency": /loadedLate\(|LATE: Readonly/,
  "imports rewritten in the bundle": /lightChunks: Plugin|getBuiltinModule\(\$\{/,
  "a WebSocket handshake by hand": /\.setSocket\(/,
  "a handler's source text is parsed": /Function\.prototype\.toString\.call|\.toString\(\)\.match\(/,
  "global timers are replaced": /globalThis\.setTimeout\s*=|globalThis, "setTimeout"/,
  "runtime flags from within": /expose-gc|expose[-_]internals/,
};

function tricks(root: string, files: readonly SourceFile[]): readonly string[] {
  return Object.entries(TRICKS).flatMap(([name, pattern]) => {
    const where = files.filter(({ path }) => pattern.test(readFileSync(join(root, path), "utf8"))).map(({ path }) => path);
    return where.length === 0 ? [] : [`${name}: ${where.join(", ")}`];
  });
}

const counted = (name: string, found: readonly string[], most: number): Figure => ({ name, value: found.length, most, found });

/** All figures. `scripts` are the files that build the product. */
export function figuresOf(root: string, files: readonly SourceFile[], scripts: readonly SourceFile[]): readonly Figure[] {
  const src = files.filter(({ path }) => path.startsWith("src/"));
  const app = src.filter(({ path }) => path.startsWith("src/app/"));
  const sum = (list: readonly SourceFile[], of: (file: SourceFile) => number): number => list.reduce((total, file) => total + of(file), 0);
  return [
    counted(`files with one importer and under ${FRAGMENT_LINES} lines`, fragments(files), 120),
    counted("files that name a tool (web_fetch)", naming(root, files, "web_fetch"), 2),
    counted("files that name a method (sessions.preview)", naming(root, files, "sessions.preview"), 3),
    counted("files that name a channel (irc)", naming(root, files, "irc", /^src\/(?:config\/(?:schema|migrate)|plugins\/(?:sdk|runtime))\//), 1),
    counted("sibling folders that import each other", cycles(src), 0),
    counted(
      "caches of session or prompt state",
      SESSION_CACHES.filter((path) => existsSync(join(root, path))),
      1,
    ),
    counted(
      "mutable state of files",
      src.flatMap(({ path, mutable }) => mutable.map((name) => `${path}: ${name}`)),
      0,
    ),
    { name: "lines in app", value: sum(app, ({ lines }) => lines), most: 4000, found: [] },
    { name: "as and ! in src", value: sum(src, ({ assertions }) => assertions), most: 700, found: [] },
    counted("tricks on dependencies", tricks(root, [...files, ...scripts]), 2),
  ];
}

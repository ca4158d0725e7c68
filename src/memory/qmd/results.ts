import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { isRecord } from "../../base/records.ts";
import { citedPath } from "../thread/note-files.ts";
import type { SearchHit } from "../types.ts";
import type { Collection, QmdSettings } from "./settings.ts";

/** One result as the program prints it. */
interface Printed {
  readonly file: string;
  readonly score: number;
  readonly snippet: string;
  readonly line?: number | undefined;
}

/** Paths of files outside the workspace begin with this. */
export const QMD_PREFIX = "qmd/";

/** Where a snippet begins and how many lines it has. */
const PLACE = /^@@ -(\d+)(?:,(\d+))? @@[^\n]*\n?/;

/** Reads what a search printed. Progress may stand before it. Throws `UNAVAILABLE` when there are no results in it. */
export function parseResults(output: string): readonly Printed[] {
  const [from, to] = [output.indexOf("["), output.lastIndexOf("]")];
  if (from === -1 || to < from) {
    if (/no results/i.test(output) || output.trim() === "") return [];
    throw new AppError("UNAVAILABLE", `qmd printed something other than results: ${JSON.stringify(output.trim().slice(0, 100))}`);
  }
  let rows: unknown;
  try {
    rows = JSON.parse(output.slice(from, to + 1));
  } catch {
    throw new AppError("UNAVAILABLE", "qmd printed results that are not complete JSON");
  }
  return (Array.isArray(rows) ? rows : []).flatMap((row): Printed[] => {
    if (!isRecord(row) || typeof row["file"] !== "string") return [];
    const { file, score, snippet, body, line } = row;
    const text = typeof snippet === "string" ? snippet : typeof body === "string" ? body : "";
    return [
      {
        file,
        score: typeof score === "number" && Number.isFinite(score) ? Math.min(1, Math.max(0, score)) : 0,
        snippet: text,
        line: typeof line === "number" ? line : undefined,
      },
    ];
  });
}

/** The program writes names in lower case with dashes. */
const plain = (path: string): string =>
  path
    .toLowerCase()
    .split("/")
    .map((part) => part.replaceAll(/[^\p{L}\p{N}.]+/gu, "-").replaceAll(/^-+|-+$/g, ""))
    .join("/");

/** The file that a printed path means; undefined when it is not below the collection. */
function fileOf({ root }: Collection, below: string): string | undefined {
  const named = join(root, below);
  if (!isInside(root, named)) return undefined;
  if (existsSync(named)) return named;
  let at = root;
  for (const part of below.split("/")) {
    let found: string | undefined;
    try {
      found = readdirSync(at).find((name) => plain(name) === plain(part));
    } catch {
      return undefined;
    }
    if (found === undefined) return undefined;
    at = join(at, found);
  }
  return at;
}

export interface Located {
  readonly hit: SearchHit;
  readonly collection: Collection;
  readonly file: string;
}

/** A result with its file, as the memory shows it. */
export function locate({ file: printed, score, snippet, line }: Printed, { collections, limits }: QmdSettings, workspace: string): Located | undefined {
  const [, name = "", below = ""] = /^(?:qmd:\/\/)?([^/]+)\/(.+)$/.exec(printed) ?? [];
  const collection = collections.find((other) => other.name === name);
  const file = collection && fileOf(collection, below);
  if (!collection || file === undefined) return undefined;
  const place = PLACE.exec(snippet);
  const text = (place ? snippet.slice(place[0].length) : snippet).trim();
  const first = place ? Number(place[1]) : (line ?? 1);
  const lines = place?.[2] === undefined ? Math.max(1, text.split("\n").length) : Number(place[2]);
  const inside = isInside(workspace, file) && collection.kind !== "sessions";
  const path = inside ? citedPath(workspace, file) : `${QMD_PREFIX}${name}/${citedPath(collection.root, file)}`;
  const shown = text.length <= limits.maxSnippetChars ? text : `${text.slice(0, limits.maxSnippetChars - 1).toWellFormed()}…`;
  return {
    collection,
    file,
    hit: {
      path,
      startLine: first,
      endLine: first + Math.max(0, lines - 1),
      score,
      snippet: shown,
      source: collection.kind === "sessions" ? "sessions" : "memory",
    },
  };
}

/** The first hits, as many as fit into what may be put into a prompt. */
export function withinLimits(hits: readonly SearchHit[], most: number, { maxInjectedChars }: QmdSettings["limits"]): readonly SearchHit[] {
  const kept: SearchHit[] = [];
  let left = maxInjectedChars;
  for (const hit of hits) {
    if (kept.length >= most || left <= 0) break;
    const snippet = hit.snippet.length <= left ? hit.snippet : hit.snippet.slice(0, left).toWellFormed();
    left -= snippet.length;
    kept.push({ ...hit, snippet });
  }
  return kept;
}

import type { EntryKind } from "../../../base/rooted-files.ts";
import { defineTool } from "../../declaration.ts";

import { filesFor, resolvePath, searchedPath, textParam } from "../files/paths.ts";
import { createEffort, patienceOf, type Effort, type SearchToolsDeps } from "./effort.ts";
import { createPage, limitOf, pathFailure } from "./page.ts";

const LIMIT = 500;
const MAX_LIMIT = 10_000;
const ENTRIES_AT_ONCE = 1024;
const MARKS: Readonly<Record<EntryKind, string>> = { file: "", folder: "/", link: "@", other: "" };

/** Lists a folder by name. Of a folder of any size only what is shown is kept. */
export const lsTool = defineTool<SearchToolsDeps>({
  name: "ls",
  groups: ["fs"],
  reach: { reads: "private" },
  promptLine: "list a folder",
  icon: "📂",
  inSandbox: "allowed",
  overHttp: "never",
  label: "ls",
  description: `List what is in a folder, by name, with / after folders and @ after links. At most ${LIMIT} entries unless limit says otherwise.`,
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "Folder to list; the workspace by default" },
      limit: { type: "number", description: `Maximum number of entries (${LIMIT})` },
    },
    required: [],
  },
  idempotent: true,
  executionMode: "parallel",
  paths: searchedPath,
  run: (deps) => async (call) => {
    const { params, context, signal } = call;
    const written = textParam(params, "path")?.trim() || ".";
    const limit = limitOf(params["limit"], LIMIT, MAX_LIMIT);
    const effort = createEffort(deps.clock, signal, patienceOf(deps).totalMs);
    let first: readonly Entry[];
    try {
      await using folder = await filesFor("ls", call, deps).folder(resolvePath(written, context, deps.home));
      first = await smallest(limit + 1, () => folder.read(ENTRIES_AT_ONCE), effort);
    } catch (error) {
      return pathFailure(error, written);
    }
    const page = createPage();
    for (const { name, kind } of first.slice(0, limit)) if (!page.add(name + MARKS[kind])) break;
    const more = first.length > limit;
    return page.outcome(
      "(empty directory)",
      [more ? `${limit} entries limit reached. Use limit=${limit * 2} for more` : undefined, effort.stopped],
      more ? { entryLimitReached: limit } : {},
    );
  },
});

interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** The first ones in order, of as many as there are. */
async function smallest(most: number, read: () => Promise<readonly Entry[]>, effort: Effort): Promise<readonly Entry[]> {
  const sorted = (entries: readonly Entry[]): readonly Entry[] =>
    entries
      .map((entry) => ({ entry, key: entry.name.toLowerCase() }))
      .sort((a, b) => (a.key === b.key ? (a.entry.name < b.entry.name ? -1 : 1) : a.key < b.key ? -1 : 1))
      .slice(0, most)
      .map(({ entry }) => entry);
  let kept: readonly Entry[] = [];
  while (await effort.goOn()) {
    const next = await read();
    if (next.length === 0) break;
    kept = sorted([...kept, ...next]);
  }
  return kept;
}

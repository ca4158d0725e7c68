import { join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { AppError, systemCode } from "../../../base/errors.ts";
import { createSlices } from "../../../base/slices.ts";
import type { RootedFiles } from "../../../base/rooted-files.ts";
import type { MethodResult } from "../../../protocol/index.ts";

type FoundFile = MethodResult<"agents.files.find">["files"][number];

/** What one look through a workspace may cost. */
const MOST_ENTRIES = 20_000;
const MOST_DEPTH = 12;
const MOST_MS = 1000;
/** How long a look through a workspace is used again, in milliseconds: someone is typing. */
const FRESH_MS = 5000;
const AT_ONCE = 512;
/** Folders that nobody refers to, and that would hide what is looked for. Hidden ones are left out, too. */
const NEVER: ReadonlySet<string> = new Set(["node_modules", "__pycache__"]);

interface Listing {
  readonly agentId: string;
  readonly workspace: string;
  readonly at: number;
  readonly files: readonly FoundFile[];
  readonly incomplete: boolean;
}

const isMissing = (error: unknown): boolean => systemCode(error) === "ENOENT" || systemCode(error instanceof AppError ? error.cause : undefined) === "ENOENT";

/** Everything in a workspace that is not hidden, what lies higher first. Links are not followed; what cannot be opened is left out. */
async function listAll(files: RootedFiles, workspace: string, clock: Clock, signal: AbortSignal): Promise<Pick<Listing, "files" | "incomplete">> {
  const found: FoundFile[] = [];
  const started = clock.monotonic();
  let level: readonly string[] = [""];
  for (let depth = 0; level.length > 0; depth += 1) {
    const below: string[] = [];
    for (const path of level) {
      if (depth >= MOST_DEPTH || clock.monotonic() - started > MOST_MS) return { files: found, incomplete: true };
      signal.throwIfAborted();
      const opened = await files.folder(join(workspace, path)).catch((error: unknown) => {
        // An agent that never ran has no workspace yet.
        if (path !== "" || isMissing(error)) return undefined;
        throw error;
      });
      if (!opened) continue;
      await using folder = opened;
      for (let part = await folder.read(AT_ONCE); part.length > 0; part = await folder.read(AT_ONCE)) {
        for (const { name, kind } of part) {
          if (name.startsWith(".") || NEVER.has(name) || (kind !== "file" && kind !== "folder")) continue;
          if (found.length >= MOST_ENTRIES) return { files: found, incomplete: true };
          const whole = path === "" ? name : `${path}/${name}`;
          found.push({ path: whole, kind });
          if (kind === "folder") below.push(whole);
        }
      }
    }
    level = below.sort();
  }
  return { files: found, incomplete: false };
}

/** True when the letters stand in the text in this order. */
function hasInOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

const IN_ORDER = 5;

/** 0: the name is it; 1: it begins so; 2: a word of it does; 3: it has the text; 4: the path has it; 5: its letters in their order. Undefined: not found. */
function fileRank(path: string, wanted: string): number | undefined {
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  if (wanted === "" || name === wanted || whole === wanted) return 0;
  if (name.startsWith(wanted) || whole.startsWith(wanted)) return 1;
  const at = name.indexOf(wanted);
  if (at > 0 && /[\s._-]/.test(name[at - 1]!)) return 2;
  if (at >= 0) return 3;
  if (whole.includes(wanted)) return 4;
  return wanted.length > 1 && hasInOrder(whole, wanted) ? IN_ORDER : undefined;
}

interface RankedFile {
  readonly file: FoundFile;
  readonly rank: number;
  readonly depth: number;
}

const byFit = (a: RankedFile, b: RankedFile): number =>
  a.rank - b.rank || a.depth - b.depth || a.file.path.length - b.file.path.length || (a.file.path < b.file.path ? -1 : 1);

/** Files beyond the limit that are held before the worst are dropped: sorting all that fit would take long. */
const SPARE = 500;

/** The files whose paths fit best; of equals the higher and then the shorter. Looked through in slices. */
export async function bestFiles(
  files: readonly FoundFile[],
  { query, limit, clock }: { readonly query: string; readonly limit: number; readonly clock: Pick<Clock, "monotonic"> },
): Promise<readonly FoundFile[]> {
  const wanted = query
    .trim()
    .toLowerCase()
    .replace(/^\.?\//, "");
  const slices = createSlices(clock);
  let best: readonly RankedFile[] = [];
  let found: RankedFile[] = [];
  for (const file of files) {
    if (slices.isOver()) await slices.next();
    const rank = fileRank(file.path, wanted);
    if (rank !== undefined) found.push({ file, rank, depth: file.path.split("/").length });
    if (found.length < limit + SPARE) continue;
    best = [...best, ...found].sort(byFit).slice(0, limit);
    found = [];
  }
  best = [...best, ...found].sort(byFit).slice(0, limit);
  // Letters in their order are in many paths: they count where nothing has the text itself.
  const isFound = best.some(({ rank }) => rank < IN_ORDER);
  return best.filter(({ rank }) => !isFound || rank < IN_ORDER).map(({ file }) => file);
}

/** Looks through workspaces. The last look is used again for a few seconds. */
export function createFileFinder(clock: Clock) {
  let last: Listing | undefined;
  return async (place: { readonly agentId: string; readonly workspace: string; readonly files: RootedFiles }, signal: AbortSignal): Promise<Listing> => {
    const { agentId, workspace, files } = place;
    const now = clock.monotonic();
    if (last?.agentId === agentId && last.workspace === workspace && now - last.at < FRESH_MS) return last;
    const listing = { agentId, workspace, at: now, ...(await listAll(files, workspace, clock, signal)) };
    last = listing;
    return listing;
  };
}

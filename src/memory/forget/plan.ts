import { AppError } from "../../base/errors.ts";
import type { Store } from "../../store/index.ts";
import type { Memory } from "../create-memory.ts";
import type { Notebook } from "../notes/notebook.ts";
import type { FoundEntry, FoundLine } from "../thread/find.ts";
import { hashOf, NOT_UTF8 } from "../thread/note-files.ts";
import { PREVIEW_HEADS, type ForgetRequest, type ForgetReport, type ForgottenItem } from "./types.ts";

export interface PlanDeps {
  readonly memory: Pick<Memory, "find">;
  readonly notes: Pick<Notebook, "get" | "isEditable">;
  readonly store: Pick<Store, "read">;
}

interface Unit {
  readonly item: Omit<ForgottenItem, "n">;
  /** The whole text. */
  readonly whole: string;
  readonly entry?: FoundEntry;
}

/** What would be removed. */
export interface Plan {
  readonly match: ForgetReport["match"];
  readonly id: string;
  readonly units: readonly Unit[];
  /** Every record that contains one of these is overwritten. */
  readonly needles: readonly string[];
}

const EXCERPT = 200;
/** Fewer characters than this would remove half of everything. */
const LEAST_CHARS = 3;
/** Shorter texts of single messages are common: only the message itself is overwritten. */
const LEAST_COPY = 8;

/** Some characters around the text, so that what is shown of it contains it. */
function excerpt(whole: string, text: string): string {
  const line = whole.replace(/\s+/g, " ").trim();
  if (line.length <= EXCERPT) return line;
  const at = Math.max(0, line.toLowerCase().indexOf(text.toLowerCase().replace(/\s+/g, " ").trim()));
  const start = Math.max(0, Math.min(at - 40, line.length - EXCERPT));
  return line.slice(start, start + Math.max(EXCERPT, text.length + 40)).toWellFormed();
}

/** Notes of the workspace are changed; other files are only read. */
const isOwnNote = (path: string): boolean => path === "MEMORY.md" || path === "memory.md" || path.startsWith("memory/");

function lineUnit({ path, line, endLine, text, utf8 }: FoundLine): Unit {
  const kept = isOwnNote(path) ? (utf8 ? undefined : NOT_UTF8) : "not in the workspace's memory; edit it yourself";
  return { item: { kind: "note", path, startLine: line, endLine, text: text.trim(), ...(kept === undefined ? {} : { kept }) }, whole: text.trim() };
}

function entryUnit(entry: FoundEntry, text: string): Unit {
  const { path, seq, sessionId, sessionKey, id, role, at } = entry;
  return {
    item: {
      kind: "message",
      path,
      startLine: seq + 1,
      endLine: seq + 1,
      text: excerpt(entry.text, text),
      ...(at === null ? {} : { at }),
      ...(role === null ? {} : { role }),
      sessionId,
      ...(sessionKey === null ? {} : { sessionKey }),
      ...(id === null ? {} : { entryId: id }),
    },
    whole: entry.text,
    entry,
  };
}

/** What a person or the assistant said. Asking to forget it, and what that was answered, is not. */
const isFinding = ({ role, text }: FoundEntry): boolean =>
  role !== null && !/^\s*\/forget\b/i.test(text) && !Object.values(PREVIEW_HEADS).some((head) => text.startsWith(head));

const planOf = (match: Plan["match"], units: readonly Unit[], needles: readonly string[]): Plan => ({
  match,
  units,
  needles,
  id: hashOf(JSON.stringify([match, needles, units.map(({ item, whole }) => [item, whole])])).slice(0, 16),
});

async function planText({ memory }: PlanDeps, agentId: string, written: string): Promise<Plan> {
  const text = written.trim();
  if (Array.from(text.replace(/\s/g, "")).length < LEAST_CHARS) {
    throw new AppError("INVALID_INPUT", `use at least ${LEAST_CHARS} letters to say what to forget; ${JSON.stringify(text)} would match nearly everything`);
  }
  const unitsOf = async (words: boolean): Promise<readonly Unit[]> => {
    const { lines, entries } = await memory.find(agentId, { texts: [text], words });
    return [...lines.map(lineUnit), ...entries.filter(isFinding).map((entry) => entryUnit(entry, text))];
  };
  const phrase = await unitsOf(false);
  if (phrase.length > 0) return planOf("phrase", phrase, [text]);
  const words = await unitsOf(true);
  // Texts that were shown to the user are copies, too.
  if (words.length > 0) return planOf("words", words, [text, ...new Set(words.flatMap(({ whole, item }) => [whole, item.text]))]);
  return planOf("phrase", [], [text]);
}

async function planLines(
  { notes }: PlanDeps,
  agentId: string,
  { path, startLine, endLine }: { readonly path: string; readonly startLine: number; readonly endLine: number },
): Promise<Plan> {
  const note = await notes.get(agentId, path);
  const lines = note.text.replace(/\n$/, "").split("\n");
  if (note.hash === "" || startLine < 1 || endLine < startLine || startLine > lines.length) {
    throw new AppError(
      "INVALID_INPUT",
      note.hash === ""
        ? `there is no note ${path}`
        : `${path} has ${lines.length} line${lines.length === 1 ? "" : "s"}; there are no lines ${startLine} to ${endLine}`,
    );
  }
  const last = Math.min(endLine, lines.length);
  const text = lines.slice(startLine - 1, last).join("\n");
  const kept = (await notes.isEditable(agentId, path)) ? {} : { kept: NOT_UTF8 };
  return planOf("lines", [{ item: { kind: "note", path: note.path, startLine, endLine: last, text, ...kept }, whole: text }], []);
}

async function planEntry(
  { store }: PlanDeps,
  agentId: string,
  { sessionId, entryId }: { readonly sessionId: string; readonly entryId: string },
): Promise<Plan> {
  for (const { file } of await store.read("transcripts.ofSession", { agentId, sessionId })) {
    const row = await store.read("transcripts.entry", { file, id: entryId });
    if (!row) continue;
    const [conversation] = await store.read("transcripts.conversations", { file });
    const { entryOf } = await import("../thread/find.ts");
    const unit = entryUnit(entryOf(row, { n: 0, file, sessionId, lines: 0, archivedAt: null, sessionKey: conversation?.sessionKey ?? null }, true), "");
    return planOf("entry", [unit], unit.whole.trim().length >= LEAST_COPY ? [unit.whole] : []);
  }
  throw new AppError("NOT_FOUND", `there is no entry ${entryId.slice(0, 80)} in session ${sessionId.slice(0, 80)} of agent ${agentId}`);
}

/** Finds what a request would remove. */
export async function makePlan(deps: PlanDeps, agentId: string, { target, plan, only }: ForgetRequest): Promise<Plan> {
  const made =
    "text" in target
      ? await planText(deps, agentId, target.text)
      : "path" in target
        ? await planLines(deps, agentId, target)
        : await planEntry(deps, agentId, target);
  if (plan !== undefined && plan !== made.id)
    throw new AppError("CONFLICT", "something changed since this was shown; preview what would be removed again", { details: { reason: "CONFLICT" } });
  if (only === undefined) return made;
  const unknown = only.find((n) => n > made.units.length);
  if (unknown !== undefined) throw new AppError("INVALID_INPUT", `there is no number ${unknown}: ${made.units.length} found`);
  const units = made.units.filter((_, index) => only.includes(index + 1));
  if (units.length === made.units.length) return made;
  return { ...made, units, needles: [...new Set(units.flatMap(({ whole, item }) => [whole, item.text]))] };
}

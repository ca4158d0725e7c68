import type { Clock } from "../../base/clock.ts";
import { createTextMatcher, ERASED, eraseTexts, type TextMatcher } from "../../base/erase-text.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import type { RecordsCursor, RecordsResult, Store } from "../../store/index.ts";
import type { Memory } from "../create-memory.ts";
import type { Notebook } from "../notes/notebook.ts";
import type { FileVersions } from "../versions/file-versions.ts";
import type { FoundEntry } from "../thread/find.ts";
import { eraseNames, matchingNames } from "./names.ts";
import { makePlan, type Plan } from "./plan.ts";
import { unreachablePlaces } from "./unreachable.ts";
import { PREVIEW_HEADS, type ForgetReport, type Forgetting } from "./types.ts";

export interface ForgettingDeps {
  readonly memory: Pick<Memory, "find" | "purge">;
  readonly notes: Notebook;
  readonly versions: Pick<FileVersions, "erase">;
  readonly store: Pick<Store, "read" | "commit" | "write" | "checkpoint">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stateDir: string;
  readonly workspaceOf: (agentId: string) => string;
}

const MAX_LISTED = 200;
/** Lines overwritten in one commit. */
const BATCH = 100;
const CHECKPOINTS = 20;
const CHECKPOINT_MS = 250;

/** A transcript line without its texts that match. */
export function redactedLine(line: string, matches: TextMatcher): string | undefined {
  const value: unknown = JSON.parse(line);
  const erased = eraseTexts(value, matches);
  if (erased === value || !isRecord(erased)) return undefined;
  const message = erased["message"];
  // Thoughts are signed: providers refuse changed ones, so that they go as a whole.
  if (isRecord(message) && Array.isArray(message["content"])) {
    const content = (message["content"] as readonly unknown[]).filter(
      (part) => !(isRecord(part) && part["type"] === "thinking" && part["thinking"] === ERASED),
    );
    return JSON.stringify({ ...erased, message: { ...message, content } });
  }
  return JSON.stringify(erased);
}

/** Everything that an entry says, whatever it is. */
const everyText = (line: string): TextMatcher => {
  const value: unknown = JSON.parse(line);
  const message = isRecord(value) ? value["message"] : undefined;
  const texts = new Set<string>();
  const content = isRecord(message) ? message["content"] : undefined;
  if (typeof content === "string") texts.add(content);
  for (const part of Array.isArray(content) ? (content as readonly unknown[]) : []) {
    if (isRecord(part)) for (const key of ["text", "thinking"]) if (typeof part[key] === "string") texts.add(part[key]);
  }
  return (text) => texts.has(text);
};

export function createForgetting(deps: ForgettingDeps): Forgetting {
  const { memory, notes, versions, store, clock, log } = deps;

  /** Overwrites entries a batch at a time. One that changed meanwhile is read again. */
  async function eraseEntries(entries: readonly FoundEntry[], matchesOf: (line: string) => TextMatcher): Promise<readonly string[]> {
    const files = new Set<string>();
    for (let at = 0; at < entries.length; at += BATCH) {
      const writes = [];
      for (const { file, seq, id } of entries.slice(at, at + BATCH)) {
        const [row] = await store.read("transcripts.page", { file, after: seq - 1, limit: 1 });
        const line = row?.seq === seq ? redactedLine(row.line, matchesOf(row.line)) : undefined;
        if (line === undefined) continue;
        files.add(file);
        writes.push(["transcripts.redact", { file, seq, id, line }] as const);
      }
      if (writes.length > 0) await store.commit(writes);
    }
    return [...files];
  }

  /** The log keeps old pages until nobody reads them: tried for some seconds. */
  async function emptyLog(): Promise<boolean> {
    for (let round = 0; ; round += 1) {
      try {
        await store.checkpoint({ truncate: true });
        return true;
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "LOCKED" || round >= CHECKPOINTS) {
          log.warn(`the log could not be emptied after texts were removed: ${messageOf(error)}`);
          return false;
        }
        await new Promise<void>((resume) => void clock.after(CHECKPOINT_MS, resume));
      }
    }
  }

  const listed = (plan: Plan): Pick<ForgetReport, "match" | "items" | "truncated"> => ({
    match: plan.match,
    items: plan.units.slice(0, MAX_LISTED).map(({ item }, index) => ({ n: index + 1, ...item, text: item.text.slice(0, 4000).toWellFormed() })),
    truncated: plan.units.length > MAX_LISTED,
  });

  async function copiesOf(agentId: string, plan: Plan): Promise<{ readonly entries: readonly FoundEntry[]; readonly count: number }> {
    const own = plan.units.flatMap(({ entry }) => (entry ? [entry] : []));
    if (plan.needles.length === 0) return { entries: own, count: 0 };
    const records = await everyRecord((from) => store.read("records.matching", { agentId, texts: plan.needles, from }));
    const names = await matchingNames(store, agentId, createTextMatcher(plan.needles));
    const elsewhere = records + names.length;
    if (plan.match === "entry") return { entries: own, count: elsewhere };
    const { entries } = await memory.find(agentId, { texts: plan.needles });
    const known = new Set(own.map(({ file, seq }) => `${file}#${seq}`));
    const others = entries.filter(({ file, seq }) => !known.has(`${file}#${seq}`));
    return { entries: [...own, ...others], count: others.length + elsewhere };
  }

  return {
    async forget(agentId, request) {
      const plan = await makePlan(deps, agentId, request);
      const copies = await copiesOf(agentId, plan);
      const report = { ...listed(plan), plan: plan.id, copies: copies.count };
      if (request.preview) {
        return { ...report, removed: false, unreachable: await unreachablePlaces(deps, agentId, plan, { logEmptied: true }) };
      }
      await eraseLines(notes, agentId, plan);
      const needles = plan.needles.length === 0 ? [] : [...plan.needles, ...Object.values(PREVIEW_HEADS)];
      const matches = createTextMatcher(needles);
      const entries = plan.match === "entry" || plan.match === "lines" ? copies.entries : (await memory.find(agentId, { texts: needles })).entries;
      const files = await eraseEntries(entries, plan.match === "entry" ? everyText : () => matches);
      if (needles.length > 0) {
        await everyRecord((from) => store.write("records.redact", { agentId, texts: needles, from }));
        await eraseNames(store, agentId, matches);
        await notes.eraseRemoved(agentId, matches);
        await versions.erase(agentId, matches);
      }
      await memory.purge(agentId, files);
      return { ...report, removed: true, unreachable: await unreachablePlaces(deps, agentId, plan, { logEmptied: await emptyLog() }) };
    },
  };
}

/** Looks at all records, some rows at a time; others write in between. Gives how many were found. */
async function everyRecord(look: (from: RecordsCursor | undefined) => Promise<RecordsResult>): Promise<number> {
  let total = 0;
  for (let from: RecordsCursor | undefined; ;) {
    const { records, next } = await look(from);
    total += records;
    if (!next) return total;
    from = next;
  }
}

async function eraseLines(notes: Pick<Notebook, "edit">, agentId: string, { units, match }: Plan): Promise<void> {
  const paths = new Set(units.flatMap(({ item }) => (item.kind === "note" && item.kept === undefined ? [item.path] : [])));
  for (const path of paths) {
    const own = units.filter(({ item }) => item.path === path);
    await notes.edit(agentId, path, (text) => {
      const lines = text.split("\n");
      const gone = new Set(own.flatMap(({ item, whole }) => removedLines(lines, item, whole, match === "lines")));
      return lines.filter((_, index) => !gone.has(index)).join("\n");
    });
  }
}

/** Positions of the lines that an item stands for: by their text, as the file may have changed since; by their numbers when lines were named. */
function removedLines(
  lines: readonly string[],
  item: { readonly startLine: number; readonly endLine: number },
  whole: string,
  byNumber: boolean,
): readonly number[] {
  if (byNumber && lines.slice(item.startLine - 1, item.endLine).join("\n") === whole) {
    return Array.from({ length: item.endLine - item.startLine + 1 }, (_, index) => item.startLine - 1 + index);
  }
  if (byNumber) return [];
  const count = whole.split("\n").length;
  return lines.flatMap((_, index) => {
    const run = Array.from({ length: count }, (_unused, at) => index + at);
    return lines
      .slice(index, index + count)
      .join("\n")
      .trim() === whole
      ? run
      : [];
  });
}

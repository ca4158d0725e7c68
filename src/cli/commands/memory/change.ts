import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { clip } from "../../../base/text.ts";
import { citationOf, recalledNotes, shownTime, suggestionsOf, withSuggestion } from "../../../memory/index.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { agentOf, MEMORY_OPTIONS, numberOf, refuseMore, withMemory } from "./source.ts";
import { working } from "./status.ts";

const counted = (n: number, one: string): string => `${n} ${one}${n === 1 ? "" : "s"}`;

/** `memory/2026-11-01.md#L3-L5`, `sessionId#entryId` after `entry:`, or a text. */
function targetOf(written: string): Pick<MethodParams<"memory.forget">, "text" | "path" | "startLine" | "endLine" | "sessionId" | "entryId"> {
  const [, path, first, last] = /^(\S+\.md)#L(\d+)(?:-L?(\d+))?$/i.exec(written) ?? [];
  if (path !== undefined) return { path, startLine: Number(first), endLine: Number(last ?? first) };
  const [, sessionId, entryId] = /^entry:([^#\s]+)#(\S+)$/.exec(written) ?? [];
  if (sessionId !== undefined && entryId !== undefined) return { sessionId, entryId };
  return { text: written };
}

const outOfReach = (places: readonly string[]): string => `Cannot be removed here:\n${places.map((place) => `  ${escapeLine(place)}\n`).join("")}`;

function listed({ items, copies, match, truncated, timeZone }: MethodResult<"memory.forget">): string {
  const lines = items.map(({ n, kind, path, startLine, endLine, at, role, text, kept }) => {
    const where =
      kind === "note"
        ? `${path}#L${startLine}${endLine === startLine ? "" : `-L${endLine}`}`
        : `${role ?? "entry"} ${shownTime({ at }, timeZone) ?? ""} ${path}#L${startLine}`;
    return `${String(n).padStart(4)}. ${escapeLine(where)}: ${escapeLine(clip(text.replaceAll(/\s+/g, " "), 160))}${kept === undefined ? "" : ` (stays: ${escapeLine(kept)})`}\n`;
  });
  const words = match === "words" ? "No exact match. These contain all of the words:\n" : "";
  return `${words}${lines.join("")}${truncated ? "      … and more\n" : ""}${copies === 0 ? "" : `      and ${counted(copies, "other record")} with the same text\n`}`;
}

function removedText({ items, copies }: MethodResult<"memory.forget">): string {
  const gone = items.filter(({ kept }) => kept === undefined);
  const notes = gone.filter(({ kind }) => kind === "note");
  const lines = notes.reduce((sum, { startLine, endLine }) => sum + endLine - startLine + 1, 0);
  return `Removed ${counted(lines, "line")} of notes, ${counted(gone.length - notes.length, "message")}, ${counted(copies, "other record")}`;
}

const nothingFound = (written: string): string =>
  `No match in notes or conversations.${/\.md$/i.test(written) ? ` To remove lines of a note, name them: ${written}#L1-L3.` : ""}\n`;

export const forget = defineCommand({
  positionals: "<text, note#L3-L5 or entry:session#entry>",
  options: {
    ...MEMORY_OPTIONS,
    preview: { type: "boolean", help: "Show what would be removed" },
    only: { type: "string", value: "1,3", help: "Only these numbers from the list" },
    yes: { type: "boolean", help: "Don't ask for confirmation" },
  },
  examples: [
    { line: 'openclaw memory forget "alarm code" --preview', does: "Show what would be removed" },
    { line: 'openclaw memory forget "alarm code" --yes', does: "Permanently delete it from notes, conversations and other records" },
    { line: "openclaw memory forget MEMORY.md#L3 --preview", does: "One line of a note" },
  ],
  async run({ io, values, positionals }) {
    const written = positionals.join(" ").trim();
    if (written === "") throw new AppError("INVALID_INPUT", 'expected a text to forget, such as: openclaw memory forget "alarm code"');
    const numbers = values.only?.split(",").map((part) => Number(part.trim()));
    if (numbers?.some((n) => !Number.isSafeInteger(n) || n < 1)) throw new AppError("INVALID_INPUT", `--only takes numbers such as 1,3, not "${values.only}"`);
    const asked = { ...agentOf(values), ...targetOf(written), ...(numbers === undefined ? {} : { only: numbers }) };
    const style = createStyle(io.color);
    return await withMemory(
      io,
      values,
      async ({ call }): Promise<number | void> => {
        const preview = await working(io, "Looking", () => call("memory.forget", { ...asked, preview: true }));
        const isEmpty = preview.items.length === 0 && preview.copies === 0;
        if (values.preview || isEmpty) {
          if (values.json) return printJson(io, preview);
          io.out(isEmpty ? nothingFound(written) : listed(preview));
          io.out(style.dim(outOfReach(preview.unreachable)));
          return;
        }
        if (!values.yes) {
          io.err(`${listed(preview)}${outOfReach(preview.unreachable)}`);
          if (!(await io.confirm("Delete permanently?"))) {
            io.err(io.interactive ? "No changes made\n" : "No changes made: without a terminal, use --yes to confirm\n");
            return 1;
          }
        }
        const done = await working(io, "Removing", () => call("memory.forget", { ...asked, plan: preview.plan }));
        if (values.json) return printJson(io, done);
        io.out(`${style.green("✓")} ${removedText(done)}\n`);
        io.out(style.dim(outOfReach(done.unreachable)));
      },
      { fresh: true },
    );
  },
});

const MAIN = "MEMORY.md";

export const suggest = defineCommand({
  options: { ...MEMORY_OPTIONS, accept: { type: "string", value: "n", help: "Apply this suggestion to MEMORY.md" } },
  examples: [{ line: "openclaw memory suggest", does: "Often recalled notes, as changes to MEMORY.md" }],
  async run({ io, values, positionals }) {
    refuseMore(positionals, "choose a suggestion with --accept <n>");
    const accepted = numberOf("accept", values.accept, { least: 1, most: 1000, whole: true });
    const { found, applied } = await withMemory(io, values, async ({ call }) => {
      const [{ recalls }, main] = [
        await call("memory.recalls", { ...agentOf(values), limit: 500 }),
        await call("memory.notes.get", { ...agentOf(values), path: MAIN }),
      ];
      const notes = new Map<string, string>();
      for (const path of recalledNotes(recalls)) {
        // A note that cannot be read, such as one that became a link, is not suggested from.
        const note = await call("memory.notes.get", { ...agentOf(values), path }).catch((error: unknown) => {
          if (error instanceof AppError && error.code !== "UNAVAILABLE" && error.code !== "TIMEOUT") return undefined;
          throw error;
        });
        if (note) notes.set(path, note.text);
      }
      const all = suggestionsOf(recalls, main.text, notes);
      const chosen = all.find(({ n }) => n === accepted);
      if (accepted === undefined) return { found: all, applied: undefined };
      if (!chosen) throw new AppError("NOT_FOUND", `suggestion ${accepted} not found; ${all.length === 0 ? "there are none" : `they are 1 to ${all.length}`}`);
      await call("memory.notes.set", { ...agentOf(values), path: MAIN, text: withSuggestion(main.text, chosen), hash: main.hash });
      return { found: all, applied: chosen };
    });
    if (values.json) return printJson(io, applied ? { applied } : { suggestions: found });
    const style = createStyle(io.color);
    if (applied) return io.out(`${style.green("✓")} ${MAIN} has ${counted(applied.lines.length, "line")} more\n`);
    if (found.length === 0) return io.out("No suggestions. A note is suggested once it was recalled in three turns.\n");
    const coloured = (diff: string): string =>
      diff
        .split("\n")
        .map((line) => (line.startsWith("+") ? style.green(escapeLine(line)) : escapeLine(line)))
        .join("\n");
    for (const { n, recalls, score, diff, ...place } of found) {
      io.out(`${style.bold(`${n}.`)} ${escapeLine(citationOf(place))}, recalled in ${recalls} turns, mean score ${score.toFixed(2)}\n${coloured(diff)}\n\n`);
    }
    io.out(io.runnable("Apply one: openclaw memory suggest --accept <n>\n"));
  },
});

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

const outOfReach = (places: readonly string[]): string => `Out of reach:\n${places.map((place) => `  ${escapeLine(place)}\n`).join("")}`;

function listed({ items, copies, match, truncated, timeZone }: MethodResult<"memory.forget">): string {
  const lines = items.map(({ n, kind, path, startLine, endLine, at, role, text, kept }) => {
    const where =
      kind === "note"
        ? `${path}#L${startLine}${endLine === startLine ? "" : `-L${endLine}`}`
        : `${role ?? "entry"} ${shownTime({ at }, timeZone) ?? ""} ${path}#L${startLine}`;
    return `${String(n).padStart(4)}. ${escapeLine(where)}: ${escapeLine(clip(text.replaceAll(/\s+/g, " "), 160))}${kept === undefined ? "" : ` (stays: ${escapeLine(kept)})`}\n`;
  });
  const words = match === "words" ? "Nothing contains exactly that; these have all of its words.\n" : "";
  return `${words}${lines.join("")}${truncated ? "      … and more\n" : ""}${copies === 0 ? "" : `      and ${counted(copies, "other record")} with the same text\n`}`;
}

function removedText({ items, copies }: MethodResult<"memory.forget">): string {
  const gone = items.filter(({ kept }) => kept === undefined);
  const notes = gone.filter(({ kind }) => kind === "note");
  const lines = notes.reduce((sum, { startLine, endLine }) => sum + endLine - startLine + 1, 0);
  return `removed ${counted(lines, "line")} of notes, ${counted(gone.length - notes.length, "message")}, ${counted(copies, "other record")}`;
}

const nothingFound = (written: string): string =>
  `Nothing contains that, neither notes nor conversations.${/\.md$/i.test(written) ? ` To remove lines of a note, name them: ${written}#L1-L3.` : ""}\n`;

export const forget = defineCommand({
  positionals: "<text, note#L3-L5 or entry:session#entry>",
  options: {
    ...MEMORY_OPTIONS,
    preview: { type: "boolean", help: "only show what would be removed" },
    only: { type: "string", value: "1,3", help: "only these of the shown ones" },
    yes: { type: "boolean", help: "do not ask" },
  },
  examples: [
    { line: 'openclaw memory forget "alarm code" --preview', does: "what would be removed" },
    { line: 'openclaw memory forget "alarm code" --yes', does: "remove it from notes, conversations and every other record, for good" },
    { line: "openclaw memory forget MEMORY.md#L3 --preview", does: "a line of a note" },
  ],
  async run({ io, values, positionals }) {
    const written = positionals.join(" ").trim();
    if (written === "") throw new AppError("INVALID_INPUT", 'expected what to forget, such as: openclaw memory forget "alarm code"');
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
          if (!(await io.confirm("Remove it for good?"))) {
            io.err(io.interactive ? "Nothing was removed.\n" : "Nothing was removed: without a terminal, --yes is needed.\n");
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
  options: { ...MEMORY_OPTIONS, accept: { type: "string", value: "n", help: "put this suggestion into MEMORY.md" } },
  examples: [{ line: "openclaw memory suggest", does: "notes that are recalled again and again, as changes of MEMORY.md" }],
  async run({ io, values, positionals }) {
    refuseMore(positionals, "a suggestion is chosen with --accept <n>");
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
      if (!chosen)
        throw new AppError("NOT_FOUND", `there is no suggestion ${accepted}; ${all.length === 0 ? "there are none" : `they are 1 to ${all.length}`}`);
      await call("memory.notes.set", { ...agentOf(values), path: MAIN, text: withSuggestion(main.text, chosen), hash: main.hash });
      return { found: all, applied: chosen };
    });
    if (values.json) return printJson(io, applied ? { applied } : { suggestions: found });
    const style = createStyle(io.color);
    if (applied) return io.out(`${style.green("✓")} ${MAIN} has ${counted(applied.lines.length, "line")} more\n`);
    if (found.length === 0) return io.out("No suggestions: no note was recalled in three turns yet that MEMORY.md does not have.\n");
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

import { readFile, rename, rm } from "node:fs/promises";
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { evaluate as measure, parseQuestions } from "../../../memory/index.ts";
import { defineCommand } from "../../command.ts";
import { findTarget } from "../../gateway-target.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { agentOf, MEMORY_OPTIONS, openState, refuseMore, withMemory } from "./source.ts";
import { working } from "./status.ts";

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const MISSES = 20;

export const evaluate = defineCommand({
  positionals: "<questions.jsonl>",
  options: MEMORY_OPTIONS,
  examples: [{ line: "openclaw memory eval questions.jsonl", does: "Measure recall, ranking and time" }],
  async run({ io, values, positionals }) {
    const [file, extra] = positionals;
    if (file === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one file, such as: openclaw memory eval questions.jsonl");
    const path = resolve(io.cwd, file);
    const content = await readFile(path, "utf8").catch((error: unknown) => {
      throw fileError(path, "could not read the questions", error);
    });
    const parsed = parseQuestions(content);
    for (const { line, why } of parsed.badLines) io.err(`${file}:${line}: ${why}\n`);
    if (parsed.questions.length === 0) {
      throw new AppError("INVALID_INPUT", `${file} has no questions; a line is {"query": "…", "expect": [{"path": "MEMORY.md", "line": 5}]}`);
    }
    const report = await withMemory(
      io,
      values,
      async ({ call }) => {
        await working(io, "Indexing", () => call("memory.index", agentOf(values)));
        return await measure(
          parsed,
          ({ query, now }) => call("memory.search", { ...agentOf(values), query, maxResults: 10, minScore: 0, ...(now === undefined ? {} : { now }) }),
          (done) => io.redraw?.(`${done} of ${parsed.questions.length} questions`),
        );
      },
      { fresh: true },
    );
    io.redraw?.("");
    if (values.json) return printJson(io, report);
    const style = createStyle(io.color);
    io.out(
      `${formatFacts(
        [
          ["Questions", String(report.n)],
          ["Found among the first 5", percent(report.recall["5"])],
          ["Found among the first 10", percent(report.recall["10"])],
          ["Ranking (nDCG@10)", report.ndcg10.toFixed(3)],
          ["Time (median)", `${report.msP50.toFixed(1)} ms`],
        ],
        style,
      )}\n`,
    );
    if (report.misses.length > 0) {
      io.out(
        `\n${style.bold("Not all found")}\n${report.misses
          .slice(0, MISSES)
          .map(({ line, query, found, expected }) => `  ${file}:${line}  ${found} of ${expected}  ${query}\n`)
          .join("")}`,
      );
      if (report.misses.length > MISSES) io.out(`  … and ${report.misses.length - MISSES} more (--json has all)\n`);
    }
  },
});

const PAGE = 2000;

export const exportAll = defineCommand({
  options: { agent: MEMORY_OPTIONS.agent, out: { type: "string", value: "file", help: "Write to this file (default: standard output)" } },
  examples: [{ line: "openclaw memory export --out memory.jsonl", does: "Every passage with its source, one JSON object per line" }],
  async run({ io, values, positionals }) {
    refuseMore(positionals, "set the file with --out");
    // A gateway that runs has taken over every transcript already.
    const { holder } = await findTarget(io, {});
    await using state = await openState(io, values, { fresh: holder === undefined });
    const path = values.out === undefined ? undefined : resolve(io.cwd, values.out);
    // An export that fails halfway leaves the file of the last one as it was.
    const part = path === undefined ? undefined : `${path}.${process.pid}.part`;
    const file = part === undefined ? undefined : createWriteStream(part, { mode: 0o600 });
    if (file && path !== undefined) {
      await once(file, "open").catch((error: unknown) => {
        throw fileError(path, "could not write", error);
      });
    }
    let total = 0;
    for (let after: number | undefined = 0; after !== undefined;) {
      const { passages, next } = await state.memory.export(state.agentId, { after, limit: PAGE });
      const text = passages.map((passage) => `${JSON.stringify(passage)}\n`).join("");
      if (!file) io.out(text);
      else if (!file.write(text)) await once(file, "drain");
      total += passages.length;
      after = next;
    }
    const nothing = total === 0 ? ": no notes and no conversations" : "";
    if (!file || part === undefined || path === undefined) return total === 0 ? io.err(`Nothing indexed for agent ${state.agentId}${nothing}\n`) : undefined;
    file.end();
    await once(file, "close");
    await rename(part, path).catch(async (error: unknown) => {
      await rm(part, { force: true });
      throw fileError(path, "could not write", error);
    });
    io.err(`${total} passages in ${path}${nothing}\n`);
  },
});

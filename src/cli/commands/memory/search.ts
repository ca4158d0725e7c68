import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { citationOf, shownTime } from "../../../memory/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { agentOf, MEMORY_OPTIONS, numberOf, withMemory, type MemoryFlags } from "./source.ts";

type Found = MethodResult<"memory.search">;
type Hit = Found["results"][number];
type AgentStatus = MethodResult<"memory.status">["agents"][number];

const SEARCH_OPTIONS = {
  ...MEMORY_OPTIONS,
  "max-results": { type: "string", value: "n", help: "Maximum number of results (default 6, memorySearch.query.maxResults)" },
  "min-score": { type: "string", value: "0..1", help: "Minimum score (default 0.1, memorySearch.query.minScore)" },
} as const;

interface Asked extends MemoryFlags {
  readonly "max-results"?: string | undefined;
  readonly "min-score"?: string | undefined;
}

/** What was found, and what to say when that is nothing. */
async function ask(io: Io, values: Asked, positionals: readonly string[], explain: boolean): Promise<{ readonly found: Found; readonly nothing: string }> {
  const query = positionals.join(" ").trim();
  if (query === "") throw new AppError("INVALID_INPUT", 'expected a query, such as: openclaw memory search "where do we park"');
  const maxResults = numberOf("max-results", values["max-results"], { least: 1, most: 200, whole: true });
  const minScore = numberOf("min-score", values["min-score"], { least: 0, most: 1, whole: false });
  return withMemory(io, values, async ({ call }) => {
    const found = await call("memory.search", {
      ...agentOf(values),
      query,
      ...(maxResults === undefined ? {} : { maxResults }),
      ...(minScore === undefined ? {} : { minScore }),
      ...(explain ? { explain } : {}),
    });
    if (found.results.length > 0 || values.json) return { found, nothing: "" };
    const [agent] = (await call("memory.status", { agentId: found.agentId })).agents;
    return { found, nothing: agent ? nothingText(agent, minScore) : "" };
  });
}

/** Why nothing was found, as far as that is known. */
function nothingText({ status }: AgentStatus, minScore: number | undefined): string {
  if (!status.enabled) return "Memory is off for this agent (memorySearch.enabled, or plugins.slots.memory).\n";
  if (status.chunks === 0 && !status.indexing) return `Nothing indexed yet: no notes in ${status.workspaceDir} and no conversations.\n`;
  return `No results.${minScore === 0 ? " Try other words." : " Use --min-score 0 to see weaker matches."}\n`;
}

function heading(hit: Hit, timeZone: string, style: Style): string {
  const who = hit.role === undefined ? hit.heading : (hit.speaker ?? hit.role);
  const facts = [shownTime(hit, timeZone), who].filter((fact) => fact !== undefined).map(escapeLine);
  return `${style.bold(hit.score.toFixed(2))}  ${style.cyan(escapeLine(citationOf(hit)))}${facts.length === 0 ? "" : style.dim(`  ${facts.join(" · ")}`)}`;
}

const indented = (text: string): string =>
  text
    .split("\n")
    .map((line) => `      ${escapeLine(line)}`)
    .join("\n");

function shownHit(hit: Hit, timeZone: string, style: Style): string {
  const replaced = hit.supersededBy === undefined ? [] : [style.yellow(`      replaced by ${escapeLine(hit.supersededBy)}`)];
  const replaces = hit.supersedes === undefined ? [] : [style.green(`      replaces ${escapeLine(hit.supersedes)}`)];
  return [heading(hit, timeZone, style), indented(hit.snippet.trim()), ...replaced, ...replaces].join("\n");
}

const notes = ({ indexing }: Found, nothing: string, style: Style): string =>
  `${nothing}${indexing ? style.yellow("The index is still being built; more results may appear later.\n") : ""}`;

export const search = defineCommand({
  positionals: "<query>",
  options: SEARCH_OPTIONS,
  examples: [
    { line: 'openclaw memory search "who is our plumber"', does: "Matching passages, best first" },
    { line: 'openclaw memory search "alarm code" --min-score 0 --json', does: "Include weak matches, as JSON" },
  ],
  async run({ io, values, positionals }) {
    const { found, nothing } = await ask(io, values, positionals, false);
    if (values.json) return printJson(io, found);
    const style = createStyle(io.color);
    io.out(`${found.results.map((hit) => `${shownHit(hit, found.timeZone, style)}\n`).join("\n")}${notes(found, nothing, style)}`);
  },
});

export const why = defineCommand({
  positionals: "<query>",
  options: SEARCH_OPTIONS,
  examples: [{ line: 'openclaw memory why "who is our plumber"', does: "Explain how the query was understood and ranked" }],
  async run({ io, values, positionals }) {
    const { found, nothing } = await ask(io, values, positionals, true);
    if (values.json) return printJson(io, found);
    const style = createStyle(io.color);
    const { understood, ranker, mode, ms } = found;
    io.out(
      `${style.bold("Understood")}  ${escapeLine(understood?.text ?? "")}\n${style.dim(`${ranker} ranking, ${mode === "fts-only" ? "without embeddings" : mode}, ${ms.toFixed(1)} ms`)}\n\n`,
    );
    for (const hit of found.results) {
      const reasons = (hit.reasons ?? []).map(
        (reason) => `      ${reason.startsWith("+") ? style.green(escapeLine(reason)) : style.red(escapeLine(reason))}\n`,
      );
      io.out(`${shownHit(hit, found.timeZone, style)}\n${reasons.join("")}\n`);
    }
    io.out(notes(found, nothing, style));
  },
});

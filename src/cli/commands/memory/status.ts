import { join } from "node:path";
import { escapeLine } from "../../../base/printable.ts";
import { formatBytes } from "../../../base/text.ts";
import { shownTime } from "../../../memory/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { agentOf, ALL_AGENTS_OPTIONS, refuseMore, withMemory, type MemorySource } from "./source.ts";

type AgentStatus = MethodResult<"memory.status">["agents"][number];

const counted = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;

const SOME_ISSUES = 5;
const SEARCH_MODES: Readonly<Record<string, string>> = {
  "fts-only": "keywords and meaning, without a model",
  hybrid: "keywords and embeddings",
  vector: "embeddings only",
};

/** The parts of `custom` and `vector` that the text shows. */
interface Embedding {
  readonly searchMode?: string;
  readonly providerUnavailableReason?: string;
  readonly providerFailingSinceMs?: number;
  readonly providerRetryAtMs?: number;
  readonly advice?: string;
  readonly pendingLines?: number;
  readonly probe?: { readonly ok: boolean; readonly error?: string };
  readonly qmd?: { readonly lastError?: string };
}

function stateOf({ status }: AgentStatus, style: Style): string {
  const { pendingLines: left = 0 } = status.custom as Embedding;
  const rest = left === 0 ? "" : `, ${counted(left, "line")} of conversations left`;
  if (status.indexing) return style.yellow(`building${rest}`);
  return status.dirty ? style.yellow(`out of date${rest}; the next search updates it`) : style.green("up to date");
}

/** How questions are answered now: without vectors by words, whatever the configuration wants. */
function searchText({ status }: AgentStatus): string {
  const { searchMode = "fts-only" } = status.custom as Embedding;
  const { count = 0 } = status.vector as { readonly count?: number };
  return SEARCH_MODES[count === 0 ? "fts-only" : searchMode] ?? searchMode;
}

/** Whether embeddings work; if not why, since when, and what to do. */
function embeddingFacts({ status }: AgentStatus, { style, now, timeZone }: Shown): readonly (readonly [string, string])[] {
  const { custom, provider, model, requestedProvider } = status;
  const { providerUnavailableReason: reason, providerFailingSinceMs: since, providerRetryAtMs: retry = 0, advice, probe } = custom as Embedding;
  const { fallback } = status as { readonly fallback?: { readonly from: string; readonly reason: string } };
  const { count = 0, pending = 0, loadError } = status.vector as { readonly count?: number; readonly pending?: number; readonly loadError?: string };
  const name = provider === "none" ? requestedProvider : `${provider}${model === undefined ? "" : ` (${model})`}`;
  const isWanted = provider !== "none" || requestedProvider !== "auto";
  if (!isWanted) return [["Embeddings", "none (optional): no local model and no key for openai, gemini or voyage"]];
  const begun = since === undefined ? "" : ` since ${shownTime({ at: new Date(since).toISOString() }, timeZone)}`;
  const wait = Math.ceil((retry - now) / 1000);
  const again = since === undefined ? "" : wait > 0 ? `; retries in ${wait} s` : "; retries with the next search";
  return [
    ["Embeddings", reason === undefined ? style.green(name) : style.yellow(`${name}: not working${begun}`)],
    ...(reason === undefined ? [] : ([["  Reason", `${reason}${again}`]] as const)),
    ...(advice === undefined ? [] : ([["  Fix", advice]] as const)),
    ...(fallback ? ([["  Instead of", `${fallback.from}: ${fallback.reason}`]] as const) : []),
    ...(probe ? ([["  Checked now", probe.ok ? style.green("works") : style.red(probe.error ?? "does not work")]] as const) : []),
    ["  Embedded", `${counted(count, "passage")}${pending === 0 ? "" : `, ${pending.toLocaleString("en-US")} left`}`],
    ...(loadError === undefined ? [] : ([["  sqlite-vec", style.yellow(loadError)]] as const)),
  ];
}

/** Files that are not indexed, each with its reason; the first few unless all are wanted. */
export function issuesText(issues: readonly string[], verbose: boolean, style: Style): string {
  if (issues.length === 0) return "";
  const most = verbose ? issues.length : SOME_ISSUES;
  const more = issues.length - most;
  const lines = issues.slice(0, most).map((issue) => `  ${escapeLine(issue)}\n`);
  return `${style.yellow(`${counted(issues.length, "file or folder", "files or folders")} not indexed`)}\n${lines.join("")}${more > 0 ? `  … and ${more} more (--verbose names all)\n` : ""}`;
}

interface Shown {
  readonly style: Style;
  readonly verbose: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly timeZone: string;
}

function shown(agent: AgentStatus, options: Shown): string {
  const { agentId, status, scan } = agent;
  const { style, verbose, timeZone } = options;
  const isEmpty = status.chunks === 0 && !status.indexing;
  if (!status.enabled) {
    const off = "off (memorySearch.enabled, or plugins.slots.memory)";
    return `${style.bold(`Agent ${agentId}`)}\n${formatFacts(
      [
        ["Memory", style.yellow(off)],
        ["Workspace", status.workspaceDir],
      ],
      style,
    )}\n`;
  }
  const facts: (readonly [string, string])[] = [
    ["Memory", style.green("on")],
    ["Index", `${stateOf(agent, style)}, ${formatBytes(status.dbBytes)}`],
    ["Search", searchText(agent)],
    ...embeddingFacts(agent, options),
    ...status.sourceCounts.map(({ source, files, chunks }): readonly [string, string] => [
      source === "sessions" ? "Conversations" : "Notes",
      source === "sessions" ? `${counted(files, "transcript")}, ${counted(chunks, "message")}` : `${counted(files, "file")}, ${counted(chunks, "passage")}`,
    ]),
    ...qmdFacts(agent, style),
    ["Workspace", status.workspaceDir],
    ...(verbose
      ? ([
          ["Database", status.dbPath],
          ["Updated", shownTime({ at: status.updatedAtMs === undefined ? undefined : new Date(status.updatedAtMs).toISOString() }, timeZone) ?? "never"],
          ["Time zone", timeZone],
          ["Extra paths", status.extraPaths.join(", ") || "none"],
          ["Vectors", JSON.stringify(status.vector)],
          ["Cache", JSON.stringify(status.cache)],
        ] as const)
      : []),
  ];
  const empty = isEmpty ? style.dim(`Nothing indexed yet. Write a note to ${join(status.workspaceDir, "MEMORY.md")}, or talk to the agent.\n`) : "";
  return `${style.bold(`Agent ${agentId}`)}\n${formatFacts(facts, style)}\n${empty}${issuesText(scan.issues, verbose, style)}`;
}

/** Of `memory.backend: "qmd"`: which of the two answers, and why. */
function qmdFacts({ status }: AgentStatus, style: Style): readonly (readonly [string, string])[] {
  const { qmd } = status.custom as Embedding;
  if (!qmd) return [];
  const failed = qmd.lastError === undefined ? "" : `: ${qmd.lastError}`;
  return [["qmd", status.backend === "qmd" ? `answers${failed}` : style.yellow(`not answering; using the built-in index${failed}`)]];
}

/** Says that something takes a while, and is gone afterwards. */
export async function working<T>(io: Io, text: string, work: () => Promise<T>): Promise<T> {
  const started = io.now();
  const draw = (): void => io.redraw?.(`${text} … ${Math.round((io.now() - started) / 1000)} s`);
  draw();
  const timer = io.interactive ? setInterval(draw, 250) : undefined;
  try {
    return await work();
  } finally {
    clearInterval(timer);
    io.redraw?.("");
  }
}

const LOOK_MS = 300;

/** Without progress for this long, the rest is left to the next time. */
const STUCK_MS = 60_000;

/** Waits until everything is embedded, or the provider does not work. */
async function embedded(io: Io, { call }: MemorySource, agentId: string): Promise<void> {
  let [least, since] = [Number.POSITIVE_INFINITY, io.now()];
  for (;;) {
    const [agent] = (await call("memory.status", { agentId })).agents;
    const { pending = 0 } = (agent?.status.vector ?? {}) as { readonly pending?: number };
    if (pending === 0 || ((agent?.status.custom ?? {}) as Embedding).providerUnavailableReason !== undefined) return;
    if (pending < least) [least, since] = [pending, io.now()];
    if (io.now() - since > STUCK_MS) return;
    await new Promise((next) => setTimeout(next, LOOK_MS));
  }
}

export const status = defineCommand({
  options: {
    ...ALL_AGENTS_OPTIONS,
    deep: { type: "boolean", help: "Also check that embeddings work" },
    index: { type: "boolean", help: "Update the index first" },
    verbose: { type: "boolean", help: "Show paths, vectors and every file that is not indexed" },
  },
  examples: [
    { line: "openclaw memory", does: "Index status of every agent" },
    { line: "openclaw memory status --index --json", does: "Update the index and print the status as JSON" },
  ],
  async run({ io, values, positionals }) {
    refuseMore(positionals, "choose an agent with --agent");
    const { agents, timeZone } = await withMemory(
      io,
      values,
      async ({ call }) => {
        const deep = values.deep === true ? { deep: true } : {};
        if (values.index) {
          const ids = values.agent === undefined ? (await call("memory.status", {})).agents.map(({ agentId }) => agentId) : [values.agent];
          for (const agentId of ids) await working(io, `Indexing ${agentId}`, () => call("memory.index", { agentId }));
        }
        return await call("memory.status", { ...agentOf(values), ...deep });
      },
      { fresh: values.index ?? false },
    );
    if (values.json) return printJson(io, agents);
    const style = createStyle(io.color);
    const options = { style, verbose: values.verbose ?? false, now: io.now(), timeZone };
    io.out(agents.map((agent) => shown(agent, options)).join("\n"));
  },
});

export const index = defineCommand({
  options: {
    ...ALL_AGENTS_OPTIONS,
    force: { type: "boolean", help: "Rebuild the index from scratch" },
    verbose: { type: "boolean", help: "List every file that is not indexed" },
  },
  examples: [
    { line: "openclaw memory index", does: "Update the index" },
    { line: "openclaw memory index --force", does: "Rebuild the index" },
  ],
  async run({ io, values, positionals }) {
    refuseMore(positionals, "notes come from the workspace and memorySearch.extraPaths; choose an agent with --agent");
    const force = values.force === true ? { force: true } : {};
    const reports = await withMemory(
      io,
      values,
      async (source) => {
        const { call } = source;
        const ids = values.agent === undefined ? (await call("memory.status", {})).agents.map(({ agentId }) => agentId) : [values.agent];
        const done = [];
        for (const agentId of ids) {
          done.push(await working(io, `Indexing ${agentId}`, () => call("memory.index", { agentId, ...force })));
          // A gateway goes on embedding by itself; this process would end with it.
          if (source.via === "state folder") await working(io, `Embedding ${agentId}`, () => embedded(io, source, agentId));
        }
        return done;
      },
      { fresh: true },
    );
    if (values.json) return printJson(io, reports);
    const style = createStyle(io.color);
    for (const { agentId, files, changed, removed, messages, issues, ms } of reports) {
      io.out(
        `${style.green("✓")} ${agentId}: ${counted(files, "note")} (${changed} changed, ${removed} removed), ${counted(messages, "new message")}, ${Math.round(ms)} ms\n`,
      );
      const left = issues.map(({ path, why }) => `${path}: ${why}`);
      io.out(issuesText(left, values.verbose ?? false, style));
    }
  },
});

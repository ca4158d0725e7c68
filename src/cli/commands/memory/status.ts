import { formatBytes } from "../../../base/text.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { agentOf, MEMORY_OPTIONS, withMemory } from "./source.ts";

type AgentStatus = MethodResult<"memory.status">["agents"][number];

const counted = (n: number, one: string): string => `${n.toLocaleString("en-US")} ${one}${n === 1 ? "" : "s"}`;

function shown({ agentId, status, scan }: AgentStatus, style: Style, verbose: boolean): string {
  const state = status.indexing
    ? style.yellow("being made")
    : status.dirty
      ? style.yellow("behind; the next search brings it up to date")
      : style.green("up to date");
  const facts: (readonly [string, string])[] = [
    ["Memory", status.enabled ? style.green("on") : style.yellow("off")],
    ["Index", `${state}, ${formatBytes(status.dbBytes)}`],
    [
      "Search",
      status.provider === "none"
        ? "by words and their meaning, without a model"
        : `with embeddings of ${status.provider}${status.model === undefined ? "" : ` (${status.model})`}`,
    ],
    ...status.sourceCounts.map(({ source, files, chunks }): readonly [string, string] => [
      source === "sessions" ? "Conversations" : "Notes",
      source === "sessions" ? `${counted(files, "transcript")}, ${counted(chunks, "message")}` : `${counted(files, "file")}, ${counted(chunks, "passage")}`,
    ]),
    ["Workspace", status.workspaceDir],
    ...(verbose
      ? ([
          ["Database", status.dbPath],
          ["Extra paths", status.extraPaths.join(", ") || "none"],
          ["Vectors", JSON.stringify(status.vector)],
          ["Cache", JSON.stringify(status.cache)],
        ] as const)
      : []),
  ];
  const issues =
    scan.issues.length === 0
      ? ""
      : `${style.yellow(`${counted(scan.issues.length, "file")} not indexed`)}\n${scan.issues
          .slice(0, verbose ? 1000 : 5)
          .map((issue) => `  ${issue}\n`)
          .join("")}`;
  return `${style.bold(`Agent ${agentId}`)}\n${formatFacts(facts, style)}\n${issues}`;
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

export const status = defineCommand({
  options: {
    ...MEMORY_OPTIONS,
    deep: { type: "boolean", help: "also check whether embeddings can be computed" },
    index: { type: "boolean", help: "bring the index up to date first" },
    verbose: { type: "boolean", help: "with paths, vectors and every file that is not indexed" },
  },
  examples: [
    { line: "openclaw memory", does: "what is indexed, for every agent" },
    { line: "openclaw memory status --index --json", does: "bring the index up to date, then the state as data" },
  ],
  async run({ io, values }) {
    const { agents } = await withMemory(
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
    io.out(agents.map((agent) => shown(agent, style, values.verbose ?? false)).join("\n"));
  },
});

export const index = defineCommand({
  options: {
    ...MEMORY_OPTIONS,
    force: { type: "boolean", help: "make a new index that then replaces the old one" },
    verbose: { type: "boolean", help: "name every file that is not indexed" },
  },
  examples: [
    { line: "openclaw memory index", does: "bring the index up to date" },
    { line: "openclaw memory index --force", does: "make it again" },
  ],
  async run({ io, values }) {
    const force = values.force === true ? { force: true } : {};
    const reports = await withMemory(
      io,
      values,
      async ({ call }) => {
        const ids = values.agent === undefined ? (await call("memory.status", {})).agents.map(({ agentId }) => agentId) : [values.agent];
        const done = [];
        for (const agentId of ids) done.push(await working(io, `Indexing ${agentId}`, () => call("memory.index", { agentId, ...force })));
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
      if (issues.length > 0)
        io.out(
          `  ${style.yellow(`${counted(issues.length, "file")} not indexed`)}${values.verbose ? `\n${issues.map(({ path, why }) => `  ${path}: ${why}`).join("\n")}` : " (--verbose names them)"}\n`,
        );
    }
  },
});

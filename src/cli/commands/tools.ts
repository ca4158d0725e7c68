import { lockHolder } from "../../base/instance-lock.ts";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { defaultAgentId, expandHome, formatLocated, homeFolder, type OpenClawConfig, stateLockPath } from "../../config/index.ts";
import { loadChoice } from "../../models/index.ts";
import { resolveSessionKey, type GatewayClient, type MethodResult } from "../../protocol/index.ts";
import {
  builtinSubjects,
  explainAbsent,
  explainNamed,
  explainPolicy,
  explainSandbox,
  groupPolicy,
  type PolicyQuestion,
  loadExplainFile,
  groupsOf,
  type ToolSource,
} from "../../tools/index.ts";
import { loadFor, requireValid } from "../config-source.ts";
import { connectTo, timeoutOf, type GatewayFlags, GATEWAY_OPTIONS } from "../gateway-call.ts";
import { findTarget } from "../gateway-target.ts";
import { type Io, printJson } from "../io.ts";
import { defineCommand } from "../command.ts";
import { createStyle, type Style } from "../output/style.ts";
import { formatFacts, formatTable } from "../output/table.ts";

/** Who was asked. */
type AnswerSource = "gateway" | "configuration";

/**
 * Asks the gateway that a command means. Undefined when none runs on this state folder, or when it knows nothing of tools: then the configuration
 * has to do. A gateway that was named must answer.
 */
async function askGateway<T>(io: Io, flags: GatewayFlags, ask: (client: GatewayClient) => Promise<T>): Promise<T | undefined> {
  const target = await findTarget(io, flags);
  const isOwn = target.kind === "local" && flags.token === undefined && flags.password === undefined;
  if (isOwn && lockHolder(stateLockPath(target.stateDir)) === undefined) return undefined;
  await using client = await connectTo(io, target, timeoutOf(flags));
  try {
    return await ask(client);
  } catch (error) {
    const knowsNothing = error instanceof AppError && (error.details["protocolCode"] === "UNAVAILABLE" || error.message.startsWith("unknown method"));
    if (isOwn && knowsNothing) return undefined;
    throw error;
  }
}

interface Wanted {
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly tool?: string | undefined;
  /** As it was written, from the folder that the command runs in. */
  readonly path?: string | undefined;
}

type Explained = MethodResult<"tools.explain"> & { readonly from: AnswerSource };

/** Why a session has its tools: from the running gateway, else from the configuration about the built-in ones. */
async function explained(io: Io, wanted: Wanted, flags: GatewayFlags): Promise<Explained> {
  const { agent, session, tool } = wanted;
  const path =
    wanted.path === undefined
      ? undefined
      : resolve(io.cwd, expandHome(wanted.path, homeFolder({ env: io.env, exists: () => false, osHome: homedir(), cwd: io.cwd })));
  const params = {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(session === undefined ? {} : { sessionKey: session }),
    ...(tool === undefined ? {} : { tool }),
    ...(path === undefined ? {} : { path }),
  };
  const answer = await askGateway(io, flags, (client) => client.request("tools.explain", params));
  return answer ? { ...answer, from: "gateway" } : { ...(await byConfiguration(io, { ...wanted, path })), from: "configuration" };
}

async function byConfiguration(io: Io, { agent, session, tool, path }: Wanted): Promise<MethodResult<"tools.explain">> {
  const loaded = loadFor(io);
  const { snapshot, paths } = loaded;
  requireValid(snapshot, formatLocated);
  const { config } = snapshot;
  const { agentId, sessionKey } = sessionOf(config, agent, session);
  const question: PolicyQuestion = {
    config,
    agentId,
    ...(await modelOf(config, agentId)),
    group: groupPolicy({ config, sessionKey }),
    sandboxed: explainSandbox({ config, agentId, sessionKey, stateDir: paths.state }).sandbox.sessionIsSandboxed,
    ...(/^agent:[^:]+:subagent:/.test(sessionKey) ? { subagent: { depth: 1, maxDepth: config.agents?.defaults?.subagents?.maxSpawnDepth ?? 1 } } : {}),
    owner: true,
    tool,
  };
  const facts = { config, agentId, provider: question.provider, modelId: question.modelId };
  const ruled = explainPolicy(question).map((row) => (row.allowed ? (explainAbsent(row.name, facts) ?? row) : row));
  const tools = tool === undefined ? ruled : explainNamed(tool, ruled, facts);
  if (tools.length === 0) {
    const names = builtinSubjects().map(({ name }) => name);
    const meant = nearest(tool ?? "", names);
    const advice = meant === undefined ? "list them with: openclaw tools list (plugin tools need a running gateway)" : `did you mean ${meant}?`;
    throw new AppError("INVALID_INPUT", `tool ${JSON.stringify(tool)} not found; ${advice}`);
  }
  return { agentId, sessionKey, tools: [...tools], ...(path === undefined ? {} : { file: (await loadExplainFile()).explainFile({ loaded, agentId, path }) }) };
}

/** The session that is meant: the one that is named, else the main one of the agent. */
function sessionOf(config: OpenClawConfig, agent: string | undefined, session: string | undefined): { readonly agentId: string; readonly sessionKey: string } {
  const list = config.agents?.list?.length ? config.agents.list : [{ id: "main" }];
  const ids = list.map(({ id }) => id.toLowerCase());
  const named = agent?.trim().toLowerCase();
  if (named !== undefined && !ids.includes(named)) {
    const meant = nearest(named, ids);
    throw new AppError("NOT_FOUND", `there is no agent ${JSON.stringify(agent)}; ${meant === undefined ? "agents.list names them" : `did you mean ${meant}?`}`);
  }
  const naming = { defaultAgentId: named ?? defaultAgentId(config), scope: config.session?.scope ?? "per-sender" };
  const found = resolveSessionKey(session ?? "main", naming, ids);
  if (!found.ok) throw new AppError("INVALID_INPUT", `--session: ${found.message}`);
  if (named !== undefined && found.agentId !== named) {
    throw new AppError("INVALID_INPUT", `--session ${found.key} belongs to agent ${found.agentId}, but --agent is ${named}; use only one of them`);
  }
  return { agentId: found.agentId, sessionKey: found.key };
}

/** The model that the configuration names for an agent; rules by provider are for it. */
async function modelOf(config: OpenClawConfig, agentId: string): Promise<{ readonly provider?: string; readonly modelId?: string }> {
  const { agentChoice, aliasesOf, DEFAULT_REF, readRef } = await loadChoice();
  const { primary } = agentChoice(config, agentId);
  const ref = primary === undefined ? undefined : readRef(primary, aliasesOf(config), DEFAULT_REF.provider)?.ref;
  return ref ? { provider: ref.provider, modelId: ref.id } : {};
}

type Row = Explained["tools"][number];

const verdict = ({ allowed }: Row, style: Style): string => (allowed ? style.green("yes") : style.red("no"));

function printOne(io: Io, { sessionKey, agentId }: Explained, row: Row): void {
  const style = createStyle(io.color);
  const facts: (readonly [string, string | undefined])[] = [
    ["tool", style.bold(row.name)],
    ["from", row.source],
    ["session", sessionKey],
    ["agent", agentId],
    ["allowed", verdict(row, style)],
    ["decided by", row.layer],
    ["path", row.path],
    ["entry", row.entry],
    ["why", row.why],
  ];
  io.out(
    formatFacts(
      facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined),
      style,
    ),
  );
}

function printAll(io: Io, { sessionKey, tools }: Explained): void {
  const style = createStyle(io.color);
  const rows = tools.map((row) => [row.name, verdict(row, style), row.layer ?? "-", row.why]);
  io.out(`${style.dim("session")}  ${sessionKey}\n\n${formatTable(["Tool", "Allowed", "Decided by", "Why"], rows, { style, columns: io.columns })}`);
}

function printFile(io: Io, { path, read, write }: NonNullable<Explained["file"]>): void {
  const style = createStyle(io.color);
  const shown = ({ decision, why }: typeof read): string => `${decision}: ${why}`;
  io.out(
    `\n${formatFacts(
      [
        ["file", style.bold(path)],
        ["read", shown(read)],
        ["write", shown(write)],
      ],
      style,
    )}`,
  );
}

export const explain = defineCommand({
  positionals: "[tool]",
  options: {
    session: { type: "string", value: "key", help: "Session (default: the agent's main session)" },
    agent: { type: "string", value: "id", help: "Agent (default: the default agent)" },
    path: { type: "string", value: "file", help: "Also check read and write access to this file" },
    ...GATEWAY_OPTIONS,
  },
  examples: [
    { line: "openclaw tools explain", does: "All tools of the main session" },
    { line: "openclaw tools explain exec", does: "One tool and the setting that decides" },
    { line: "openclaw tools explain write --path ~/notes.txt", does: "Check whether the agent may write a file" },
    { line: "openclaw tools explain exec --session agent:main:whatsapp:group:120363@g.us --json", does: "In a group, as JSON" },
  ],
  async run({ io, values, positionals: [tool] }) {
    const found = await explained(io, { agent: values.agent, session: values.session, tool, path: values.path }, values);
    if (values.json) return printJson(io, found);
    if (found.from === "configuration") io.err("No gateway is running. Showing built-in tools from the configuration\n");
    const [row] = found.tools;
    if (tool !== undefined && row) printOne(io, found, row);
    else printAll(io, found);
    if (found.file) printFile(io, found.file);
  },
});

type Listed = Omit<MethodResult<"tools.catalog">["tools"][number], "parameters" | "description"> & { readonly description?: string };

function sourceOf({ source, pluginId = "" }: Listed): ToolSource {
  return source === "core" ? { kind: source } : { kind: source, id: pluginId };
}

function marksOf({ ownerOnly, optional }: Listed): string {
  return [...(ownerOnly ? ["owner only"] : []), ...(optional ? ["optional"] : [])].join(", ") || "-";
}

const builtin = (): readonly Listed[] => builtinSubjects().map(({ name, ownerOnly }) => ({ name, source: "core", ...(ownerOnly ? { ownerOnly } : {}) }));

export const list = defineCommand({
  options: { agent: { type: "string", value: "id", help: "Agent (default: the default agent)" }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw tools list", does: "Name, origin and groups of every tool" },
    { line: "openclaw tools list --json", does: "As JSON; includes parameters if a gateway is running" },
  ],
  async run({ io, values }) {
    const answer = await askGateway(io, values, (client) => client.request("tools.catalog", values.agent === undefined ? {} : { agentId: values.agent }));
    const found: readonly Listed[] = answer?.tools ?? builtin();
    if (values.json) {
      const tools = found.map((tool) => ({ ...tool, groups: groupsOf({ name: tool.name, source: sourceOf(tool) }) }));
      return printJson(io, { from: answer ? "gateway" : "configuration", count: tools.length, tools });
    }
    if (!answer) io.err("No gateway is running. Showing built-in tools only\n");
    const style = createStyle(io.color);
    const rows = found.map((tool) => [
      tool.name,
      tool.source === "core" ? "built in" : `${tool.source} ${tool.pluginId ?? ""}`.trim(),
      marksOf(tool),
      groupsOf({ name: tool.name, source: sourceOf(tool) }).join(" ") || "-",
    ]);
    io.out(formatTable(["Tool", "From", "Note", "Groups"], rows, { style, columns: io.columns }));
  },
});

/** What an agent does on a node by its rules, and after the operator's yes where they want one: running commands, moving files. */
import { AppError } from "../../base/errors.ts";
import {
  ASK_LEVELS,
  commandText,
  environmentText,
  execSettings,
  failedOutcome,
  SECURITY_LEVELS,
  stricterAsk,
  stricterSecurity,
  textOutcome,
  type ExecAsk,
  type ExecSecurity,
  type NodeRun,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
} from "../../tools/index.ts";
import { nodeName } from "../find-node.ts";
import { nodePath } from "../folders.ts";
import type { NodeEntry } from "../registry.ts";
import type { NodeActionDeps } from "./deps.ts";
import { isRecord } from "../../base/records.ts";
import { fileCommandText } from "../file-command.ts";

const ASK_MS = 120_000;
const DEFAULT_MS = 30_000;

interface Rules {
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
}

/** The rules for this session: what it chose may only make them stricter. Throws where nothing may be done on nodes. */
function rulesFor({ agentId, choice }: ToolContext, { config }: NodeActionDeps): Rules {
  const { security, ask } = execSettings(config.current, agentId, { host: "node" });
  const chosen = { security: SECURITY_LEVELS.find((level) => level === choice?.execSecurity), ask: ASK_LEVELS.find((level) => level === choice?.execAsk) };
  const rules = { security: stricterSecurity(security, chosen.security ?? security), ask: stricterAsk(ask, chosen.ask ?? ask) };
  if (rules.security === "deny") throw new AppError("PERMISSION_DENIED", "exec denied: host=node security=deny");
  return rules;
}

/** What the operator is asked about. */
interface Question {
  readonly title: string;
  readonly command: string;
  readonly node: NodeEntry;
  /** The command of the node that is called once it is allowed. */
  readonly uses: string;
  readonly rules: Rules;
  readonly cwd?: string | undefined;
  readonly environment?: string | null;
}

/** Refuses what the node would refuse in any case: nobody is asked about that. */
function checkOffered(node: NodeEntry, command: string): void {
  const { connected, commands } = node;
  if (!connected) throw new AppError("UNAVAILABLE", `the node ${nodeName(node)} is not connected`, { details: { code: "NOT_CONNECTED" } });
  if (commands.includes(command)) return;
  const advice = "it has to offer it, and gateway.nodes.allowCommands and denyCommands have to allow it";
  throw new AppError("INVALID_INPUT", `node command not allowed: ${nodeName(node)} cannot be asked for ${command}; ${advice}`, { details: { command } });
}

/** Waits for the operator's yes; gives the id of the approval, and throws for everything else. Refused at once where nobody can be asked. */
async function askOperator(
  deps: NodeActionDeps,
  { context, signal }: ToolCall,
  { title, command, node, uses, rules, cwd, environment = null }: Question,
): Promise<string> {
  checkOffered(node, uses);
  const nobody = await deps.unasked(context);
  if (nobody !== undefined) throw new AppError("PERMISSION_DENIED", `exec denied: ${nobody}`);
  const { agentId, sessionKey } = context;
  const name = nodeName(node);
  const text = `on the node ${JSON.stringify(name)}: ${command}`;
  const shown = { title, description: text, toolName: "nodes", severity: "warning" };
  const place = { cwd: cwd ?? null, environment, host: "node", nodeId: node.nodeId, nodeName: name };
  const request = { ...shown, command: text, ...place, ...rules, agentId, resolvedPath: null, sessionKey, always: null };
  const approvals = await deps.approvals();
  const asked = await approvals.request({ kind: "tool", request, sessionKey, agentId, timeoutMs: ASK_MS, allowed: ["allow-once", "deny"] }, signal);
  const decision = await asked.decision;
  if (decision === "allow-once") return asked.id;
  throw new AppError("PERMISSION_DENIED", `exec denied: ${decision === "deny" ? "user denied" : "approval timed out"}`);
}

function argvOf(command: unknown): readonly [string, ...string[]] {
  const words = Array.isArray(command) ? command.filter((word): word is string => typeof word === "string") : [];
  const [first, ...rest] = words;
  if (first === undefined) throw new AppError("INVALID_INPUT", "command required: the program and its arguments");
  return [first, ...rest];
}

/** `K=V` pairs. */
function envOf(pairs: unknown): Readonly<Record<string, string>> {
  const written = Array.isArray(pairs) ? pairs.filter((pair): pair is string => typeof pair === "string") : [];
  return Object.fromEntries(
    written.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new AppError("INVALID_INPUT", `env has ${JSON.stringify(pair)}; expected NAME=value`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** Runs a command on a node and waits, also for the operator where the node's rules want one asked. */
export async function runOnNamedNode(deps: NodeActionDeps, call: ToolCall, node: NodeEntry): Promise<ToolOutcome> {
  const { params, context, signal } = call;
  const { nodeId } = node;
  const { agentId, sessionKey, runId } = context;
  const rules = rulesFor(context, deps);
  const text = commandText(argvOf(params["command"]));
  const cwd = typeof params["cwd"] === "string" ? params["cwd"] : undefined;
  const env = envOf(params["env"]);
  const timeoutMs = typeof params["commandTimeoutMs"] === "number" ? params["commandTimeoutMs"] : DEFAULT_MS;
  const command = { nodeId, command: text, cwd, env, timeoutMs, agentId, sessionKey, ...rules };
  const key = `nodes:${runId}:${call.id}`;
  let ran: NodeRun = rules.ask === "always" ? { kind: "asks" } : await deps.runner.run({ ...command, key }, signal);
  if (ran.kind === "asks") {
    const question = { title: "Run a command on a node", command: text, node, uses: "system.run", rules, cwd, environment: environmentText(env) };
    const approvalId = await askOperator(deps, call, question);
    ran = await deps.runner.run({ ...command, key: `${key}:approved`, approvalId }, signal);
  }
  if (ran.kind !== "ended") throw new AppError("PERMISSION_DENIED", ran.kind === "refused" ? ran.text : "the node requires a new approval");
  const { kind: _, ...result } = ran;
  const shown = [ran.stdout.trimEnd(), ran.stderr.trimEnd(), ran.error].filter(Boolean).join("\n") || "(no output)";
  const outcome = deps.mark(shown, { source: "nodes" });
  const details = { ...result, success: ran.exitCode === 0, nodeId };
  return ran.exitCode === 0
    ? textOutcome(outcome, details)
    : failedOutcome(`${outcome}\n(Command ${ran.timedOut ? "timed out" : `exited with code ${ran.exitCode ?? "unknown"}`})`, details);
}

type FileCommand = "file.read" | "file.write";

export const isFileCommand = (command: string): command is FileCommand => command === "file.read" || command === "file.write";

const wantsApproval = (error: unknown): boolean => error instanceof AppError && error.message.includes("FILE_DENIED: approval required");

/** Moves a file for the agent that asks: by its rules here and on the node, whatever the parameters claim, and after the operator's yes where one of them wants it. */
export async function moveFile(
  deps: NodeActionDeps,
  call: ToolCall,
  node: NodeEntry,
  { command, params, timeoutMs }: { readonly command: FileCommand; readonly params: unknown; readonly timeoutMs: number },
): Promise<unknown> {
  const { agentId, sessionKey, runId } = call.context;
  const { nodeId } = node;
  const rules = rulesFor(call.context, deps);
  const { path: written, base64, overwrite } = isRecord(params) ? params : {};
  if (typeof written !== "string" || written === "") throw new AppError("INVALID_INPUT", `${command} takes path: the file on the node`);
  if (command === "file.write" && typeof base64 !== "string") throw new AppError("INVALID_INPUT", "file.write takes base64: the content of the file");
  const { path, outsideOf } = nodePath(written, node);
  const content = typeof base64 === "string" && command === "file.write" ? { base64, overwrite: overwrite === true } : undefined;
  const send = async (part: string, approved: object): Promise<unknown> => {
    const fields = { path, ...content, agentId, sessionKey, ...approved };
    const request = { nodeId, command, params: fields, timeoutMs, idempotencyKey: `nodes:${runId}:${call.id}${part}` };
    return (await deps.nodes.invoke(request, { signal: call.signal, sessionKey }, { internal: true })).payload;
  };
  if (rules.security === "full" && rules.ask === "off") {
    try {
      return await send("", {});
    } catch (error) {
      if (!wantsApproval(error)) throw error;
    }
  }
  // Without a question the node says so itself.
  if (outsideOf) throw new AppError("PERMISSION_DENIED", `${path} is outside of the folders that the node ${nodeName(node)} offers: ${outsideOf.join(", ")}`);
  const text = fileCommandText(command, path, content);
  const id = await askOperator(deps, call, {
    title: `${command === "file.read" ? "Read" : "Write"} a file on a node`,
    command: text,
    node,
    uses: command,
    rules,
  });
  return send(":approved", { approved: true, runId: id });
}

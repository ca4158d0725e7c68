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
  type NodeRun,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
} from "../../tools/index.ts";
import type { NodeEntry } from "../registry.ts";
import type { NodeActionDeps } from "./deps.ts";

const ASK_MS = 120_000;
const DEFAULT_MS = 30_000;

/** The rules for this session: what it chose may only make them stricter. */
function rulesFor({ agentId, choice }: ToolContext, { config }: NodeActionDeps) {
  const { security, ask } = execSettings(config.current, agentId, { host: "node" });
  const chosen = { security: SECURITY_LEVELS.find((level) => level === choice?.execSecurity), ask: ASK_LEVELS.find((level) => level === choice?.execAsk) };
  return { security: stricterSecurity(security, chosen.security ?? security), ask: stricterAsk(ask, chosen.ask ?? ask) };
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
export async function runOnNamedNode(deps: NodeActionDeps, call: ToolCall, { nodeId }: NodeEntry): Promise<ToolOutcome> {
  const { params, context, signal } = call;
  const { agentId, sessionKey, runId } = context;
  const rules = rulesFor(context, deps);
  if (rules.security === "deny") throw new AppError("PERMISSION_DENIED", "exec denied: host=node security=deny");
  const text = commandText(argvOf(params["command"]));
  const cwd = typeof params["cwd"] === "string" ? params["cwd"] : undefined;
  const env = envOf(params["env"]);
  const timeoutMs = typeof params["commandTimeoutMs"] === "number" ? params["commandTimeoutMs"] : DEFAULT_MS;
  const command = { nodeId, command: text, cwd, env, timeoutMs, agentId, sessionKey, ...rules };
  const key = `nodes:${runId}:${call.id}`;
  let ran: NodeRun = rules.ask === "always" ? { kind: "asks" } : await deps.runner.run({ ...command, key }, signal);
  if (ran.kind === "asks") {
    const shown = { title: "Run a command on a node", description: text, toolName: "nodes", severity: "warning" };
    const request = {
      ...shown,
      command: text,
      cwd: cwd ?? null,
      environment: environmentText(env),
      host: "node",
      nodeId,
      ...rules,
      agentId,
      resolvedPath: null,
      sessionKey,
      always: null,
    };
    const approvals = await deps.approvals();
    const asked = await approvals.request({ kind: "tool", request, sessionKey, agentId, timeoutMs: ASK_MS, allowed: ["allow-once", "deny"] }, signal);
    const decision = await asked.decision;
    if (decision !== "allow-once") throw new AppError("PERMISSION_DENIED", `exec denied: ${decision === "deny" ? "user denied" : "approval timed out"}`);
    ran = await deps.runner.run({ ...command, key: `${key}:approved`, approvalId: asked.id }, signal);
  }
  if (ran.kind !== "ended") throw new AppError("PERMISSION_DENIED", ran.kind === "refused" ? ran.text : "the node wants another approval");
  const { kind: _, ...result } = ran;
  const shown = [ran.stdout.trimEnd(), ran.stderr.trimEnd(), ran.error].filter(Boolean).join("\n") || "(no output)";
  const outcome = deps.mark(shown, { source: "nodes" });
  const details = { ...result, success: ran.exitCode === 0, nodeId };
  return ran.exitCode === 0
    ? textOutcome(outcome, details)
    : failedOutcome(`${outcome}\n(Command ${ran.timedOut ? "timed out" : `exited with code ${ran.exitCode ?? "unknown"}`})`, details);
}

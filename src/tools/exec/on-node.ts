import { AppError, messageOf } from "../../base/errors.ts";
import type { CommandOutcome } from "../../store/index.ts";
import { approvalSlug } from "../approvals/approvals.ts";
import type { ApprovalDecision } from "../broker/approval.ts";
import { failedOutcome, textOutcome, type ToolCall, type ToolOutcome } from "../tool.ts";
import { conclude, MOST_SHOWN_CHARS, OUTPUT_CHARS, refusal, TIMEOUT_MS, type Concluded } from "./ask-first.ts";
import { startInBackground, yieldMsFor } from "./background-on-node.ts";
import type { ExecToolDeps } from "./deps.ts";
import { callEnvironment } from "./environment.ts";
import { environmentText } from "./node-command.ts";
import { shownText } from "./plan.ts";
import type { ExecAsk, ExecSecurity, ExecSettings } from "./settings.ts";

/** A command for a node. */
export interface NodeCommand {
  readonly nodeId: string;
  /** The same command under the same key runs once. */
  readonly key: string;
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds; none when absent. */
  readonly timeoutMs?: number | undefined;
  readonly agentId: string;
  readonly sessionKey: string;
  /** The node judges by the stricter of these and its own. */
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  /** Of the operator who allowed it. */
  readonly approvalId?: string;
}

/** How a command went on a node. Other failures are thrown. */
export type NodeRun =
  | {
      readonly kind: "ended";
      readonly exitCode: number | null;
      readonly timedOut: boolean;
      readonly stdout: string;
      readonly stderr: string;
      readonly error: string | null;
    }
  /** Its rules want an operator asked. */
  | { readonly kind: "asks" }
  | { readonly kind: "refused"; readonly text: string };

export interface NodeRunner {
  /** The node that a name means; without one, the only node that runs commands. Throws when there is none, or several fit. */
  find(wanted: string | undefined): Promise<{ readonly nodeId: string; readonly name: string }>;
  /** `onOutput` gets what the command writes while it runs, as far as the node sends it. */
  run(command: NodeCommand, signal: AbortSignal, onOutput?: (text: string) => void): Promise<NodeRun>;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

/** The node that a call runs on. Throws when it is not the one that the configuration binds. */
async function nodeFor(runner: NodeRunner, asked: string | undefined, bound: string | undefined): Promise<Awaited<ReturnType<NodeRunner["find"]>>> {
  const node = await runner.find(bound ?? asked);
  if (bound === undefined || asked === undefined || asked === bound) return node;
  const other = await runner.find(asked).catch(() => undefined);
  if (other?.nodeId !== node.nodeId) throw new AppError("PERMISSION_DENIED", `exec node not allowed (bound to ${bound})`);
  return node;
}

export interface NodeCall {
  readonly deps: ExecToolDeps;
  readonly runner: NodeRunner;
  readonly call: ToolCall;
  readonly settings: ExecSettings;
  readonly node: { readonly nodeId: string; readonly name: string };
  readonly command: Omit<NodeCommand, "key">;
  readonly warnings: readonly string[];
  /** The variables as the operator sees them. Values of plugins may be secrets: their names are shown. */
  readonly environment: string | null;
}

/** Runs a command on a node, by the node's rules and these settings. */
export async function runOnNode(deps: ExecToolDeps, call: ToolCall, settings: ExecSettings): Promise<ToolOutcome> {
  const { params, context } = call;
  const runner = deps.nodes;
  if (!runner) throw new AppError("UNAVAILABLE", "exec host=node needs a paired node that runs commands; there is none");
  if (settings.security === "deny") throw new AppError("PERMISSION_DENIED", "exec denied: host=node security=deny");
  const node = await nodeFor(runner, textOf(params["node"]), settings.node);
  const warnings: string[] = [];
  if (settings.pathPrepend.length > 0) warnings.push("Warning: tools.exec.pathPrepend does not apply to nodes.");
  if (params["pty"] === true) warnings.push("Warning: there is no terminal on a node; running without one.");
  const yieldMs = yieldMsFor(deps, call, warnings);
  const own = callEnvironment((params["env"] ?? {}) as Readonly<Record<string, string>>, "node");
  const added = (await deps.pluginEnvironment?.(context, "node")) ?? {};
  const seconds = params["timeout"];
  const timeoutMs = typeof seconds === "number" ? seconds * 1000 : settings.timeoutMs;
  const command = {
    nodeId: node.nodeId,
    command: String(params["command"]).toWellFormed(),
    cwd: textOf(params["workdir"]),
    env: callEnvironment({ ...added, ...own }, "node"),
    timeoutMs: timeoutMs > 0 ? timeoutMs : undefined,
    agentId: context.agentId,
    sessionKey: context.sessionKey,
    security: settings.security,
    ask: settings.ask,
  };
  if (command.command.trim() === "" || command.command.includes("\0")) throw new AppError("INVALID_INPUT", "command is empty or has a null character");
  const ofPlugins = Object.keys(added).filter((name) => !Object.hasOwn(own, name));
  const environment = [environmentText(own), ...ofPlugins.sort().map((name) => `${name} (set by plugins)`)].filter(Boolean).join(" ") || null;
  const asked: NodeCall = { deps, runner, call, settings, node, command, warnings, environment };
  if (settings.ask === "always") return await ask(asked);
  const startedAt = deps.clock.now();
  const one = { ...command, key: `exec:${context.runId}:${call.id}` };
  const started = yieldMs === undefined ? undefined : await startInBackground(asked, one, () => ask(asked));
  const ran = started ? await started.until(yieldMs!) : await runner.run(one, call.signal);
  if (ran === undefined) return started!.left();
  if (ran.kind === "asks") return await ask(asked);
  return outcomeOf(asked, ran, deps.clock.now() - startedAt);
}

function outcomeOf({ warnings, command }: NodeCall, ran: Exclude<NodeRun, { kind: "asks" }>, durationMs: number): ToolOutcome {
  if (ran.kind === "refused") return failedOutcome(`exec denied: ${ran.text}`, { status: "error", error: ran.text });
  const aggregated = (ran.stdout.trimEnd() || ran.stderr.trimEnd() || ran.error) ?? "";
  const isDone = ran.exitCode === 0 && !ran.timedOut;
  const before = warnings.map((line) => `${line}\n\n`).join("");
  const how = ran.timedOut ? "\n\nCommand timed out" : ran.exitCode === 0 ? "" : `\n\n(Command exited with code ${ran.exitCode ?? "unknown"})`;
  const details = { status: isDone ? "completed" : "failed", exitCode: ran.exitCode, durationMs, aggregated, cwd: command.cwd ?? null, nodeId: command.nodeId };
  const outcome = textOutcome(`${before}${aggregated || "(no output)"}${how}`, details);
  return ran.timedOut ? { ...outcome, isError: true } : outcome;
}

/** Asks the operator and answers at once; what comes of it is announced to the session. */
async function ask(asked: NodeCall): Promise<ToolOutcome> {
  const { deps, call, settings, node, command, warnings } = asked;
  const { context } = call;
  const shown = shownText(command.command);
  if (shown.length > MOST_SHOWN_CHARS) {
    const text = `exec denied: a command of ${shown.length} characters cannot be shown in full to the approver (${MOST_SHOWN_CHARS} at most)`;
    return failedOutcome(text, { status: "error", error: text });
  }
  const origin = deps.origin?.(context) ?? {};
  const { id, expiresAt, decision } = await deps.approvals.request({
    kind: "exec",
    sessionKey: context.sessionKey,
    agentId: context.agentId,
    timeoutMs: TIMEOUT_MS,
    // Nothing is stored on the node for `allow-always`: its own rules are its own.
    allowed: ["allow-once", "deny"],
    request: {
      command: shown,
      cwd: command.cwd ?? null,
      environment: asked.environment,
      host: "node",
      nodeId: node.nodeId,
      nodeName: node.name,
      security: settings.security,
      ask: settings.ask,
      agentId: context.agentId,
      resolvedPath: null,
      sessionKey: context.sessionKey,
      always: null,
      origin,
    },
  });
  const concluded: Concluded = { plan: { command: command.command }, context, origin, node: node.name };
  void decision
    .then((decided) => carryOn(asked, concluded, id, decided))
    .catch((error: unknown) => deps.log.warn(`exec on a node after approval: ${messageOf(error)}`, { sessionKey: context.sessionKey }));
  const slug = approvalSlug(id);
  const lines = [...warnings, `Approval required (id ${slug}). Approve to run; updates will arrive after completion.`];
  const facts = { approvalId: id, approvalSlug: slug, expiresAtMs: expiresAt, host: "node", nodeId: node.nodeId, command: command.command, cwd: command.cwd };
  return textOutcome(lines.join("\n\n"), { status: "approval-pending", ...facts });
}

/** Runs what was allowed, once, and records how it ended before the session is notified. */
async function carryOn({ deps, runner, command }: NodeCall, concluded: Concluded, id: string, decision: ApprovalDecision): Promise<void> {
  if (deps.processes.closing) return;
  const why = refusal({ rules: { askFallback: "deny" }, satisfied: false }, decision);
  if (why !== undefined) return conclude(deps, concluded, id, { state: "denied", why });
  const begun: CommandOutcome = { state: "running", startedAt: deps.clock.now() };
  await deps.approvals.recordOutcome(id, concluded.context.sessionKey, begun);
  const ended = { ...begun, state: "ended" } as const;
  let outcome: CommandOutcome;
  try {
    const ran = await runner.run({ ...command, key: `exec:approval:${id}`, approvalId: id }, new AbortController().signal);
    if (ran.kind !== "ended") outcome = { state: "denied", why: ran.kind === "refused" ? ran.text : "the node requires a new approval" };
    else {
      const output = [ran.stdout.trim(), ran.stderr.trim(), ran.error].filter(Boolean).join("\n").slice(-OUTPUT_CHARS);
      outcome = { ...ended, endedAt: deps.clock.now(), exitCode: ran.exitCode, signal: null, timedOut: ran.timedOut, output };
    }
  } catch (error) {
    // The gateway stops: the next one reports that the outcome is not known.
    if (deps.processes.closing) return;
    outcome = { ...ended, endedAt: deps.clock.now(), exitCode: null, signal: null, timedOut: false, output: messageOf(error) };
  }
  await conclude(deps, concluded, id, outcome);
}

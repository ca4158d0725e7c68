import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";
import type { CommandProcess, ProcessEnd, Processes, StartInput } from "../process/processes.ts";
import type { Sandbox } from "../sandbox/sandboxes.ts";
import { failedOutcome, textOutcome, type ToolOutcome } from "../tool.ts";
import type { CommandEnd } from "./deps.ts";
import { assertPlan, type ExecPlan } from "./plan.ts";
import { changedFile } from "./remember/pins.ts";
import type { Terminal } from "./terminal.ts";

/** Streamed output is reported this often, in milliseconds. */
const UPDATE_EVERY_MS = 250;
const NOTE_CHARS = 180;
/** A user who stops a run sees its command gone within two seconds. */
const STOPPED_GRACE_MS = 1000;

/** What `process` does for a command without a terminal. */
export const FOLLOWING = "list/poll/log/kill/clear/remove";
const TYPING = "list/poll/log/write/send-keys/submit/paste/kill/clear/remove";

export interface PlanRun {
  readonly processes: Processes;
  readonly clock: Clock;
  /** What the command's variables are set on top of. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `tools.exec.passEnv`. */
  readonly passEnv?: readonly string[] | undefined;
  /** Says what a failed command may have missed; see `createWithheldHints`. */
  readonly hint?: ((plan: ExecPlan, output: string) => string | undefined) | undefined;
  /** Variables of skills: secrets among them, so they are in no plan and no question. */
  readonly skillEnv?: Readonly<Record<string, string>> | undefined;
  /** Session whose `process` tool sees the command. */
  readonly scope: string;
  /** Where the plan runs, if not on the host itself. */
  readonly sandbox?: Sandbox | undefined;
  /** What gives a plan that wants one its terminal, there. */
  readonly terminal?: Terminal | undefined;
  /** Keeps all of an output that is too long to be shown. */
  readonly keepOutput?: StartInput["keepOutput"];
  readonly signal: AbortSignal;
  readonly update: (partial: ToolOutcome) => void;
  /** Lines in front of the output. */
  readonly warnings: readonly string[];
  /** After this long it goes to the background; never when undefined. */
  readonly yieldMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly cleanupMs: number | undefined;
  /** Receives the end of a command that was left in the background; `empty` when it succeeded and printed nothing. */
  readonly onBackgroundEnd?: (text: string, empty: boolean, end: CommandEnd) => void;
}

type Place = Pick<PlanRun, "sandbox" | "env" | "passEnv" | "skillEnv" | "terminal">;

/** What is started for the plan that was approved, and for no other. */
export function approvedStart(plan: ExecPlan, approvedHash: string, run: Place): Started {
  assertPlan(plan);
  if (plan.hash !== approvedHash)
    throw new AppError("CONFLICT", "this is not the approved plan; request approval again", { details: { hash: plan.hash, approvedHash } });
  if (plan.sandbox !== run.sandbox?.name)
    throw new AppError("CONFLICT", "the plan was made for another location; plan the command again", {
      details: { planned: plan.sandbox, given: run.sandbox?.name },
    });
  if (plan.pty === true && !run.terminal)
    throw new AppError("CONFLICT", "the plan needs a terminal and none is available; plan the command again", { details: { hash: plan.hash } });
  const changed = changedFile(plan.files ?? []);
  if (changed !== undefined)
    throw new AppError("CONFLICT", `${changed} was changed after the command was planned; nothing was run, request approval again`, {
      details: { path: changed },
    });
  return outside(plan, run);
}

/** Runs the plan that was approved, and no other. */
export async function startPlan(plan: ExecPlan, approvedHash: string, run: PlanRun, onOutput?: () => void): Promise<CommandProcess> {
  return await run.processes.start({
    ...approvedStart(plan, approvedHash, run),
    shownCwd: plan.cwd,
    command: plan.command,
    scope: run.scope,
    timeoutMs: run.timeoutMs,
    cleanupMs: run.cleanupMs,
    ...(onOutput ? { onOutput } : {}),
    keepOutput: run.keepOutput,
  });
}

type Started = Pick<StartInput, "program" | "args" | "cwd" | "env" | "attend" | "killInside" | "terminal">;

/** What is started on this machine for the plan. The one place where a terminal is put around it. */
function outside(plan: ExecPlan, { sandbox, env, passEnv, skillEnv, terminal }: Place): Started {
  const [first, ...rest] = [...plan.shell, plan.script];
  const whole = sandbox ? plan.env : { ...inheritedEnvironment(env, passEnv), ...skillEnv, ...plan.env };
  const held = plan.pty === true ? terminal?.around({ argv: [first, ...rest], env: whole }) : undefined;
  const [program, ...args] = held?.argv ?? [first, ...rest];
  if (!sandbox) return { program, args, cwd: plan.cwd, env: { ...whole, ...held?.env, PATH: plan.path, PWD: plan.cwd }, ...(held ? { terminal: "here" } : {}) };
  const { file, ...started } = sandbox.command({ argv: [program, ...args], cwd: plan.cwd, env: { ...plan.env, ...held?.env }, path: plan.path });
  return { program: file, ...started, ...(held ? { terminal: "inside" } : {}) };
}

/** Runs it until it ends or goes to the background. */
export async function runPlan(plan: ExecPlan, approvedHash: string, run: PlanRun): Promise<ToolOutcome> {
  const { clock, signal, yieldMs } = run;
  if (signal.aborted) return failedOutcome("Command aborted before it started", { status: "error" });
  let reportedAt = Number.NEGATIVE_INFINITY;
  let process: CommandProcess | undefined;
  const tell = (): void => {
    if (!process || process.backgrounded || clock.monotonic() - reportedAt < UPDATE_EVERY_MS) return;
    reportedAt = clock.monotonic();
    run.update(textOutcome(process.output.tail(), runningDetails(process)));
  };
  process = await startPlan(plan, approvedHash, run, tell);
  const kill = (): void => process.kill(STOPPED_GRACE_MS);
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const yielded = Promise.withResolvers<undefined>();
  using _timer = yieldMs === undefined || yieldMs === 0 ? undefined : clock.after(yieldMs, () => yielded.resolve(undefined));
  if (yieldMs === 0) yielded.resolve(undefined);
  const end = await Promise.race([process.ended, yielded.promise]);
  signal.removeEventListener("abort", kill);
  if (end) return endOutcome(plan, process, end, run);
  if (signal.aborted) return endOutcome(plan, process, await process.ended, run);
  process.toBackground(run.onBackgroundEnd !== undefined);
  if (run.onBackgroundEnd) void announceEnd(plan, process, run);
  const lines = [
    ...run.warnings,
    `Command still running (session ${process.id}, pid ${process.pid}). Use process (${process.terminal ? TYPING : FOLLOWING}) for follow-up.`,
  ];
  return textOutcome(lines.join("\n\n"), runningDetails(process));
}

function runningDetails(process: CommandProcess): Record<string, unknown> {
  const { id, pid, startedAt, cwd, output } = process;
  return { status: "running", sessionId: id, pid, startedAt, cwd, tail: output.tail() };
}

async function announceEnd(plan: ExecPlan, process: CommandProcess, run: PlanRun): Promise<void> {
  const end = await process.ended;
  const hint = end.code === 0 || end.code === null ? undefined : run.hint?.(plan, process.output.aggregated());
  const { text, isEmpty } = endText(process);
  run.onBackgroundEnd?.(hint === undefined ? text : `${text}\n${hint}`, isEmpty, { isSeen: () => process.isEndSeen });
}

/** The line about a command that ended; `isEmpty` when it succeeded and printed nothing. */
export function endText({ id, end, output }: CommandProcess): { readonly text: string; readonly isEmpty: boolean } {
  const { code = null, signal = null } = end ?? {};
  const tail = output.tail().replace(/\s+/g, " ").trim().slice(-NOTE_CHARS);
  const how = signal === null ? `code ${code ?? "unknown"}` : `signal ${signal}`;
  return { text: `Exec ${code === 0 ? "completed" : "failed"} (${id}, ${how})${tail === "" ? "" : ` :: ${tail}`}`, isEmpty: code === 0 && tail === "" };
}

function endOutcome(plan: ExecPlan, process: CommandProcess, end: ProcessEnd, { clock, warnings, timeoutMs, hint }: PlanRun): ToolOutcome {
  const where = process.outputFile === undefined ? "" : `; all of it is in ${process.outputFile}, which read shows in pages`;
  const aggregated = process.output.shown(where).trimEnd();
  const durationMs = (process.endedAt ?? clock.now()) - process.startedAt;
  const before = warnings.map((line) => `${line}\n\n`).join("");
  const facts = { durationMs, aggregated, cwd: process.cwd };
  const after = aggregated === "" ? "" : `${aggregated}\n\n`;
  if (end.timedOut) {
    const text = `Command timed out after ${(timeoutMs ?? 0) / 1000} seconds`;
    return failedOutcome(`${before}${after}${text}`, { status: "error", exitCode: end.code, ...facts, error: text });
  }
  if (end.code === null) {
    const text = `Command aborted by signal ${end.signal ?? "unknown"}`;
    return failedOutcome(`${before}${after}${text}`, { status: "error", exitCode: null, exitSignal: end.signal, ...facts, error: text });
  }
  const code = end.code === 0 ? "" : `\n\n(Command exited with code ${end.code})`;
  const missed = end.code === 0 ? undefined : hint?.(plan, aggregated);
  return textOutcome(`${before}${aggregated || "(no output)"}${code}${missed === undefined ? "" : `\n\n${missed}`}`, {
    status: "completed",
    exitCode: end.code,
    ...facts,
  });
}

/** Commands on a node that go on without their call: `process` shows and ends them like those on this machine. */
import { messageOf } from "../../base/errors.ts";
import type { CommandProcess, RemoteCommand } from "../process/processes.ts";
import { textOutcome, type ToolCall, type ToolOutcome } from "../tool.ts";
import type { ExecToolDeps } from "./deps.ts";
import type { NodeCall, NodeCommand, NodeRun } from "./on-node.ts";
import { endText, FOLLOWING } from "./run.ts";
import { YIELD_MS } from "./settings.ts";

/** A node judges a command before it runs it: what it refuses, or asks about, is known by then, in milliseconds. */
const VERDICT_MS = 1000;

/** When the call leaves its command in the background. Undefined: it waits for the end, as it does unless it asks for something else. */
export function yieldMsFor({ canBackground }: Pick<ExecToolDeps, "canBackground">, { params, context }: ToolCall, warnings: string[]): number | undefined {
  const { background, yieldMs } = params;
  if (background !== true && typeof yieldMs !== "number") return undefined;
  if (canBackground(context)) return typeof yieldMs === "number" && background !== true ? Math.min(Math.max(yieldMs, YIELD_MS.min), YIELD_MS.max) : VERDICT_MS;
  if (background === true) warnings.push("Warning: the process tool is not allowed here; running in the foreground.");
  return undefined;
}

export interface StartedOnNode {
  /** What came of it within the time; undefined when it still runs. */
  until(ms: number): Promise<NodeRun | undefined>;
  /** Leaves it in the background. */
  left(): ToolOutcome;
}

type Write = (stream: "stdout" | "stderr", text: string) => void;

/** The whole output, unless all of it came while the command ran: pieces may be dropped on their way. */
function writeRest({ stdout, stderr, error, exitCode }: Extract<NodeRun, { kind: "ended" }>, shown: number, write: Write): void {
  if (shown < stdout.length + stderr.length) {
    if (shown > 0) write("stdout", "\n[parts of the output were lost on the way; this is all of it]\n");
    if (stdout !== "") write("stdout", stdout);
    if (stderr !== "") write("stderr", stderr);
  }
  if (exitCode === null && error !== null) write("stderr", `\n[${error}]`);
}

/** Starts the command. `ask` asks the operator, where the node turns out to want that after the call has ended. */
export async function startInBackground(asked: NodeCall, command: NodeCommand, ask: () => Promise<ToolOutcome>): Promise<StartedOnNode> {
  const { deps, runner, call, settings, node, warnings } = asked;
  const stop = new AbortController();
  const state = { shown: 0, isLeft: false };

  async function endOf(running: Promise<NodeRun>, write: Write): Promise<Awaited<RemoteCommand["exited"]>> {
    try {
      const ran = await running;
      if (ran.kind === "ended") {
        writeRest(ran, state.shown, write);
        return { code: ran.exitCode, signal: null, timedOut: ran.timedOut };
      }
      if (ran.kind === "refused") write("stderr", `exec denied: ${ran.text}`);
      else if (state.isLeft) for (const part of (await ask()).content) if (part.type === "text") write("stdout", part.text);
    } catch (error) {
      if (stop.signal.aborted) {
        write("stderr", "\n[the node was asked to end the command]");
        return { code: null, signal: "SIGTERM" };
      }
      write("stderr", `\n[${messageOf(error)}]`);
    }
    return { code: null, signal: null };
  }

  const outcome = Promise.withResolvers<NodeRun>();
  outcome.promise.catch(() => undefined);
  const process: CommandProcess = await deps.processes.start({
    command: command.command,
    scope: call.context.sessionKey,
    cwd: command.cwd ?? "",
    cleanupMs: settings.cleanupMs,
    connect(write) {
      const onOutput = (text: string): void => {
        state.shown += text.length;
        write("stdout", text);
      };
      const running = runner.run(command, stop.signal, onOutput);
      running.then(outcome.resolve, outcome.reject);
      return { exited: endOf(running, write), stop: () => stop.abort() };
    },
  });

  return {
    async until(ms) {
      const yielded = Promise.withResolvers<undefined>();
      using _timer = deps.clock.after(ms, () => yielded.resolve(undefined));
      const kill = (): void => process.kill();
      call.signal.addEventListener("abort", kill, { once: true });
      if (call.signal.aborted) kill();
      try {
        return await Promise.race([outcome.promise, yielded.promise]);
      } finally {
        call.signal.removeEventListener("abort", kill);
      }
    },
    left() {
      state.isLeft = true;
      process.toBackground();
      if (settings.notifyOnExit) void announceEnd(deps, call, process, settings.notifyOnExitEmptySuccess);
      const { id, startedAt, cwd, output } = process;
      const text = `Command still running on the node ${node.name} (session ${id}). Use process (${FOLLOWING}) for follow-up.`;
      const details = { status: "running", sessionId: id, startedAt, cwd, tail: output.tail(), host: "node", nodeId: command.nodeId };
      return textOutcome([...warnings, text].join("\n\n"), details);
    },
  };
}

async function announceEnd(deps: ExecToolDeps, { context }: ToolCall, process: CommandProcess, evenEmpty: boolean): Promise<void> {
  await process.ended;
  const { text, isEmpty } = endText(process);
  if (!isEmpty || evenEmpty) deps.announce(context, text, { isSeen: () => process.isEndSeen });
}

import type { Clock } from "../../base/clock.ts";
import { clip, formatDuration } from "../../base/text.ts";
import { failedOutcome, textOutcome, type Tool, type ToolOutcome } from "../tool.ts";
import { logPage } from "./log-page.ts";
import type { CommandProcess, Processes } from "./processes.ts";

const MAX_WAIT_MS = 120_000;
const RETRY_MS = [5000, 10_000, 30_000, 60_000] as const;
const ACTIONS = ["list", "poll", "log", "write", "kill", "clear", "remove"] as const;
const NEED_TERMINAL = ["send-keys", "submit", "paste"];
const LABEL_CHARS = 120;

export interface ProcessToolDeps {
  readonly processes: Processes;
  readonly clock: Clock;
}

/** Looks after commands that `exec` left in the background. Each session sees its own. */
export function processTool({ processes, clock }: ProcessToolDeps): Tool {
  return {
    name: "process",
    label: "process",
    description: `Manage commands that run in the background: ${ACTIONS.join(", ")}. poll waits for new output up to timeout milliseconds; log pages through all that is kept.`,
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", description: ACTIONS.join(" | ") },
        sessionId: { type: "string", description: "Id from exec or list; needed for all but list" },
        data: { type: "string", description: "Text to write" },
        keys: { type: "array", items: { type: "string" } },
        hex: { type: "array", items: { type: "string" } },
        literal: { type: "string" },
        text: { type: "string" },
        bracketed: { type: "boolean" },
        eof: { type: "boolean", description: "End the input after writing" },
        offset: { type: "number", description: "log: line to begin with, from 0" },
        limit: { type: "number", description: "log: most lines" },
        timeout: { type: "number", minimum: 0, description: "poll: longest wait in milliseconds" },
      },
      required: ["action"],
    },
    source: { kind: "core" },
    async run({ params, context, signal }) {
      const action = String(params["action"]).trim();
      if (action === "list") return listed(processes.list(context.sessionKey), clock.now());
      const id = typeof params["sessionId"] === "string" ? params["sessionId"].trim() : "";
      if (id === "") return failed("sessionId is required for this action.");
      const process = processes.find(context.sessionKey, id);
      if (!process) return failed(`No session found for ${id}`);
      switch (action) {
        case "poll":
          return await poll(process, { clock, signal, waitMs: Math.min(numberOf(params["timeout"]) ?? 0, MAX_WAIT_MS) });
        case "log":
          return logged(process, numberOf(params["offset"]), numberOf(params["limit"]));
        case "write":
          return failed(process.end ? `Session ${id} has ended; its input is closed.` : `The input of session ${id} is closed: commands start without one.`);
        case "kill":
          if (process.end) return failed(`Session ${id} has ended already.`);
          process.kill();
          return textOutcome(`Killed session ${id}.`, { status: "failed", name: nameOf(process) });
        case "clear":
          if (!process.end) return failed(`Session ${id} is still running; kill it first.`);
          processes.forget(process);
          return textOutcome(`Cleared session ${id}.`, { status: "completed" });
        case "remove":
          process.kill();
          processes.forget(process);
          return textOutcome(`Removed session ${id}.`, { status: process.end ? "completed" : "failed", name: nameOf(process) });
        default:
          if (NEED_TERMINAL.includes(action)) return failed(`${action} needs a terminal; commands run without one here.`);
          return failed(`Unknown action ${action}; there are ${ACTIONS.join(", ")}.`);
      }
    },
  };
}

function failed(text: string): ToolOutcome {
  return failedOutcome(text, { status: "failed" });
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;
}

function nameOf({ command }: CommandProcess): string {
  return clip(command.replace(/\s+/g, " ").trim(), LABEL_CHARS);
}

function statusOf({ end }: CommandProcess): "running" | "completed" | "failed" {
  return end === undefined ? "running" : end.code === 0 ? "completed" : "failed";
}

function exitOf({ end }: CommandProcess): { exitCode?: number; exitSignal?: string } {
  return { ...(end && end.code !== null ? { exitCode: end.code } : {}), ...(end && end.signal !== null ? { exitSignal: end.signal } : {}) };
}

function listed(found: readonly CommandProcess[], now: number): ToolOutcome {
  const sessions = found.map((process) => ({
    sessionId: process.id,
    status: statusOf(process),
    pid: process.pid,
    startedAt: process.startedAt,
    runtimeMs: (process.endedAt ?? now) - process.startedAt,
    cwd: process.cwd,
    command: clip(process.command, 2000),
    name: nameOf(process),
    tail: process.output.tail(),
    truncated: process.output.truncated,
    ...exitOf(process),
  }));
  const lines = sessions.map((one) => `${one.sessionId} ${one.status.padEnd(9)} ${formatDuration(one.runtimeMs)} :: ${one.name}`);
  return textOutcome(lines.join("\n") || "No running or recent sessions.", { status: "completed", sessions });
}

interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly waitMs: number;
}

async function poll(process: CommandProcess, { clock, signal, waitMs }: Waiting): Promise<ToolOutcome> {
  if (process.end) {
    process.output.drain();
    return pollOutcome(process, process.output.tail());
  }
  if (waitMs > 0) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    using _timer = clock.after(waitMs, resolve);
    signal.addEventListener("abort", stop, { once: true });
    await Promise.race([process.ended, promise]);
    signal.removeEventListener("abort", stop);
  }
  const fresh = process.output.drain();
  process.emptyPolls = fresh === "" ? process.emptyPolls + 1 : 0;
  return pollOutcome(process, fresh);
}

function pollOutcome(process: CommandProcess, text: string): ToolOutcome {
  const { end, emptyPolls } = process;
  const state = end ? `Process exited with ${end.signal === null ? `code ${end.code ?? "unknown"}` : `signal ${end.signal}`}.` : "Process still running.";
  const retryInMs = end ? undefined : RETRY_MS[Math.min(Math.max(emptyPolls - 1, 0), RETRY_MS.length - 1)];
  return textOutcome(`${text.trimEnd() || (end ? "(no output)" : "(no new output)")}\n\n${state}`, {
    status: statusOf(process),
    sessionId: process.id,
    aggregated: clip(process.output.aggregated(), 30_000),
    name: nameOf(process),
    ...exitOf(process),
    ...(retryInMs === undefined ? {} : { retryInMs }),
  });
}

function logged(process: CommandProcess, offset: number | undefined, limit: number | undefined): ToolOutcome {
  const page = logPage(process.output.aggregated(), offset, limit);
  return textOutcome(page.text || "(no output)", {
    status: statusOf(process),
    sessionId: process.id,
    total: page.totalLines,
    totalLines: page.totalLines,
    totalChars: process.output.total,
    truncated: process.output.truncated,
    name: nameOf(process),
    ...exitOf(process),
  });
}

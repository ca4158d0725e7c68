import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { clip, formatDuration } from "../../base/text.ts";
import { defineTool } from "../declaration.ts";
import { failedOutcome, textOutcome, type ToolOutcome } from "../tool.ts";
import { keyBytes, pasted } from "./keys.ts";
import { OUTPUT_LIMITS } from "./output.ts";
import { middleLeftOut } from "./shown-output.ts";
import type { CommandProcess, Processes } from "./processes.ts";

const PAGE_LINES = 200;

/** Lines of an output. Without offset and limit the last of them; only a limit means the last so many; only an offset goes to the end. */
export function logPage(text: string, offset?: number, limit?: number): { readonly text: string; readonly totalLines: number } {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split("\n");
  const count = limit ?? (offset === undefined ? PAGE_LINES : lines.length);
  const from = offset ?? Math.max(0, lines.length - count);
  const page = lines.slice(from, from + count).join("\n");
  const cut = offset === undefined && limit === undefined && lines.length > PAGE_LINES;
  return { text: cut ? `${page}\n\n[the last ${PAGE_LINES} of ${lines.length} lines; use offset and limit for others]` : page, totalLines: lines.length };
}

const MAX_WAIT_MS = 120_000;
const RETRY_MS = [5000, 10_000, 30_000, 60_000] as const;
const ACTIONS = ["list", "poll", "log", "write", "send-keys", "submit", "paste", "kill", "clear", "remove"] as const;
/** Ends the input of a program that reads lines. */
const END_OF_INPUT = "\x04";
const LABEL_CHARS = 120;

/** As it is meant: `send_keys`, ` Poll`. */
const actionOf = (written: string): string => written.trim().toLowerCase().replaceAll("_", "-");

export interface ProcessToolDeps {
  readonly processes: Processes;
  readonly clock: Clock;
}

/** Looks after commands that `exec` left in the background. Each session sees its own. */
export const processTool = defineTool<ProcessToolDeps>({
  name: "process",
  groups: ["runtime"],
  reach: { reads: "both", outbound: true },
  promptLine: "follow and end commands that run in the background",
  icon: "🧰",
  inSandbox: "allowed",
  overHttp: "never",
  label: "process",
  description: `Manage commands that run in the background: ${ACTIONS.join(", ")}. poll shows what is new; with timeout it first waits for the end, at most so many milliseconds. log pages through all stored output. write, send-keys, submit (Enter) and paste type into a command that runs in a terminal (exec with pty).`,
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ACTIONS },
      sessionId: { type: "string", description: "Id from exec or list; needed for all but list" },
      data: { type: "string", description: "Text to write" },
      keys: { type: "array", items: { type: "string" }, description: "send-keys: names such as Enter, Up, C-c, M-x, F5" },
      hex: { type: "array", items: { type: "string" }, description: "send-keys: bytes, sent before keys" },
      literal: { type: "string", description: "send-keys: text, sent first" },
      text: { type: "string", description: "paste: text" },
      bracketed: { type: "boolean", description: "paste: mark begin and end (default true)" },
      eof: { type: "boolean", description: "Close the input after writing" },
      offset: { type: "number", description: "log: first line, counted from 0" },
      limit: { type: "number", description: "log: most lines" },
      timeout: { type: "number", minimum: 0, description: "poll: longest wait for the end, in milliseconds" },
    },
    required: ["action"],
  },
  prepareArguments: (raw) => ({ ...raw, ...(typeof raw["action"] === "string" ? { action: actionOf(raw["action"]) } : {}) }),
  run:
    ({ processes, clock }) =>
    async ({ params, context, signal }) => {
      const action = actionOf(String(params["action"]));
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
        case "send-keys":
        case "submit":
        case "paste":
          return typed(process, action, params);
        case "kill":
          if (process.end) return failed(`Session ${id} has ended already.`);
          process.isEndSeen = true;
          process.kill();
          return textOutcome(`Killed session ${id}.`, { status: "failed", name: nameOf(process) });
        case "clear":
          if (!process.end) return failed(`Session ${id} is still running; kill it first.`);
          processes.forget(process);
          return textOutcome(`Cleared session ${id}.`, { status: "completed" });
        case "remove":
          process.isEndSeen = true;
          process.kill();
          processes.forget(process);
          return textOutcome(`Removed session ${id}.`, { status: process.end ? "completed" : "failed", name: nameOf(process) });
        default:
          return failed(`Unknown action ${action}; available: ${ACTIONS.join(", ")}.`);
      }
    },
});

type Typing = "write" | "send-keys" | "submit" | "paste";

function typed(process: CommandProcess, action: Typing, params: Readonly<Record<string, unknown>>): ToolOutcome {
  const { id } = process;
  if (process.end) return failed(`Session ${id} has ended; its input is closed.`);
  if (!process.terminal) return failed(`${action} needs a terminal, and session ${id} has none; run the command with pty: true.`);
  let data;
  try {
    data = typedBytes(action, params);
  } catch (error) {
    return failed(messageOf(error));
  }
  if (data.length === 0) return failed(NOTHING[action]);
  if (!process.write(data)) return failed(`Session ${id} does not read its input; nothing was sent.`);
  const text = {
    write: `Wrote ${data.length} bytes to`,
    "send-keys": `Sent ${data.length} bytes to`,
    submit: "Submitted",
    paste: `Pasted ${data.length} bytes to`,
  };
  return textOutcome(`${text[action]} session ${id}.`, { status: "running", sessionId: id, name: nameOf(process) });
}

const NOTHING: Readonly<Record<Typing, string>> = {
  write: "data is required for write.",
  "send-keys": "literal, hex or keys is required for send-keys.",
  submit: "",
  paste: "text is required for paste.",
};

function typedBytes(action: Typing, params: Readonly<Record<string, unknown>>): Buffer {
  const { data, eof, literal, hex, keys, text, bracketed } = params;
  if (action === "write") return Buffer.from(`${textOf(data) ?? ""}${eof === true ? END_OF_INPUT : ""}`);
  if (action === "submit") return keyBytes({ keys: ["Enter"] });
  if (action === "send-keys") return keyBytes({ literal: textOf(literal), hex: textsOf(hex), keys: textsOf(keys) });
  const given = textOf(text) ?? "";
  return Buffer.from(given === "" ? "" : pasted(given, bracketed !== false));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
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
  if (process.end) return pollOutcome(process, process.output.drain(wherePolled(process)) || process.output.tail());
  if (waitMs > 0) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    using _timer = clock.after(waitMs, resolve);
    signal.addEventListener("abort", stop, { once: true });
    await Promise.race([process.ended, promise]);
    signal.removeEventListener("abort", stop);
  }
  const fresh = process.output.drain(wherePolled(process));
  process.emptyPolls = fresh === "" ? process.emptyPolls + 1 : 0;
  return pollOutcome(process, fresh);
}

function pollOutcome(process: CommandProcess, text: string): ToolOutcome {
  const { end, emptyPolls } = process;
  process.isEndSeen ||= end !== undefined;
  const state = end ? `Process exited with ${end.signal === null ? `code ${end.code ?? "unknown"}` : `signal ${end.signal}`}.` : "Process still running.";
  const retryInMs = end ? undefined : RETRY_MS[Math.min(Math.max(emptyPolls - 1, 0), RETRY_MS.length - 1)];
  const shown = middleLeftOut(text.trimEnd(), undefined, wherePolled(process));
  const file = process.outputFile === undefined ? "" : ` All of its output is in ${process.outputFile}.`;
  return textOutcome(`${shown || (end ? "(no output)" : "(no new output)")}\n\n${state}${file}`, {
    status: statusOf(process),
    sessionId: process.id,
    aggregated: process.output.aggregated().slice(-30_000),
    name: nameOf(process),
    ...exitOf(process),
    ...(retryInMs === undefined ? {} : { retryInMs }),
  });
}

/** Where what a poll leaves out can be read. */
function wherePolled(process: CommandProcess): string {
  if (process.end) return wholeOutput(process);
  return `; log shows the last ${OUTPUT_LIMITS.kept} characters, and the full output is in a file once the command has ended`;
}

/** Says where all of an output is. */
const wholeOutput = ({ outputFile }: CommandProcess): string => (outputFile === undefined ? "" : `; all of it is in ${outputFile}`);

function logged(process: CommandProcess, offset: number | undefined, limit: number | undefined): ToolOutcome {
  const page = logPage(process.output.aggregated(), offset, limit);
  const before = process.output.truncated ? `[only the end of the output is stored here${wholeOutput(process)}]\n` : "";
  return textOutcome(`${before}${middleLeftOut(page.text)}` || "(no output)", {
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

import { createHash } from "node:crypto";
import type { ToolOutcome } from "../tool.ts";

/** One call as the guard sees it. */
export interface WatchedCall {
  readonly name: string;
  readonly params: unknown;
}

/** The same for calls of one tool with the same arguments, in whatever order these are written. */
export function callFingerprint({ name, params }: WatchedCall): string {
  return `${name}:${digest(params)}`;
}

const POLL_FIELDS = ["status", "exitCode", "exitSignal", "aggregated"] as const;
const LOG_FIELDS = ["status", "totalLines", "totalChars", "truncated", "exitCode", "exitSignal"] as const;

/** A call that asks again and again whether something has happened. */
export function pollAction({ name, params }: WatchedCall): "poll" | "log" | undefined {
  if (name === "command_status") return "poll";
  const action = name === "process" && typeof params === "object" && params !== null ? (params as { action?: unknown }).action : undefined;
  return action === "poll" || action === "log" ? action : undefined;
}

/** The same for results that tell the same. What only counts the attempts is left out of polls. */
export function outcomeFingerprint(call: WatchedCall, { content, details, isError }: ToolOutcome): string {
  const said = content.map((part) => (part.type === "text" ? part.text : digest(part.data)));
  if (isError) return digest({ error: said });
  const action = pollAction(call);
  if (action === undefined) return digest({ details, said });
  const fields = typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {};
  return digest({ action, said, ...Object.fromEntries((action === "poll" ? POLL_FIELDS : LOG_FIELDS).map((key) => [key, fields[key]])) });
}

function digest(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value, (_, inner: unknown) => sorted(inner)) ?? "")
    .digest("base64url");
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

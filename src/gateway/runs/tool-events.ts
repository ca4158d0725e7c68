import { isRecord } from "../../base/records.ts";
import type { EventPayload } from "../../protocol/index.ts";
import type { ToolEvent } from "../ports.ts";

/** Characters of one text in an event. */
const TEXT_CHARS = 8000;
/** Characters and values of one event altogether. */
const TOTAL_CHARS = 64_000;
const TOTAL_VALUES = 2000;
const MAX_DEPTH = 12;
const CUT = "\n...(truncated)...";

/** Bytes that a base64 text stands for. */
const bytesOf = (data: string): number => Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);

/**
 * A value small enough to be shown: long texts are cut, images become their size, what goes on too long or too deep is left out. Total: cycles
 * and values that JSON cannot hold are taken, too.
 */
export function shownValue(value: unknown): unknown {
  let chars = TOTAL_CHARS;
  let values = TOTAL_VALUES;
  function text(whole: string): string {
    const most = Math.min(TEXT_CHARS, Math.max(chars, 0));
    chars -= Math.min(whole.length, most);
    return whole.length <= most ? whole : whole.slice(0, most) + CUT;
  }
  function shown(part: unknown, depth: number): unknown {
    values -= 1;
    if (typeof part === "string") return text(part);
    if (typeof part === "bigint") return String(part);
    if (typeof part !== "object" || part === null) return typeof part === "function" || typeof part === "symbol" ? null : part;
    if (depth >= MAX_DEPTH || values <= 0 || chars <= 0) return "...";
    if (Array.isArray(part)) return part.slice(0, values).map((item) => shown(item, depth + 1));
    if ("type" in part && part.type === "image" && "data" in part && typeof part.data === "string") {
      const rest = shown({ ...part, data: undefined }, depth + 1);
      return { ...(isRecord(rest) ? rest : {}), omitted: true, bytes: bytesOf(part.data) };
    }
    const fields: [string, unknown][] = [];
    for (const [key, field] of Object.entries(part)) {
      if (values <= 0 || chars <= 0) break;
      if (field !== undefined) fields.push([text(key), shown(field, depth + 1)]);
    }
    return Object.fromEntries(fields);
  }
  return shown(value, 0);
}

/** A tool's event as clients get it: bounded, and without the result unless the session is at `full`. */
export function shownToolEvent(event: ToolEvent, verbose: string | undefined): Extract<EventPayload<"agent">, { stream: "tool" }>["data"] {
  if (event.phase === "start") return { ...event, args: shownValue(event.args) };
  if (verbose === "full") {
    return event.phase === "update" ? { ...event, partialResult: shownValue(event.partialResult) } : { ...event, result: shownValue(event.result) };
  }
  const { name, toolCallId } = event;
  return event.phase === "update" ? { phase: "update", name, toolCallId } : { phase: "result", name, toolCallId, isError: event.isError };
}

import { modelFailed } from "../failure.ts";
import type { StreamEvent } from "../wire/format.ts";

/** Longest event; a provider that sends more in one piece is broken. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

/** Takes a stream apart into events, however its bytes are split. */
export interface EventParser {
  push(bytes: Uint8Array): readonly StreamEvent[];
  /** What is left when the stream ends without its last blank line. */
  end(): readonly StreamEvent[];
}

/**
 * Server-sent events: lines end with LF, CRLF or CR; comments are dropped; `data` lines are joined; an event ends at a blank line. Not a library: the
 * usual one (eventsource-parser) drops lines with unknown field names when they come in pieces, and llama.cpp sends its errors under one.
 */
export function createSseParser(): EventParser {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let data: string[] = [];
  let size = 0;
  let afterCr = false;

  function field(line: string, events: StreamEvent[]): void {
    if (line === "") return dispatch(events);
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (name === "data") {
      data.push(value);
      size += value.length;
      if (size > MAX_EVENT_CHARS) throw tooLong();
    } else if (name === "event") event = value;
    // llama.cpp sends errors under a field name of their own.
    else if (name === "error" && value.startsWith("{")) data.push(`{"error":${value}}`);
  }

  function dispatch(events: StreamEvent[]): void {
    if (data.length > 0) events.push({ event, data: data.join("\n") });
    event = "";
    data = [];
    size = 0;
  }

  function lines(text: string, events: StreamEvent[]): void {
    let start = 0;
    const crs = text.includes("\r");
    for (;;) {
      let end = text.indexOf("\n", start);
      if (crs) {
        const cr = text.indexOf("\r", start);
        if (cr !== -1 && (end === -1 || cr < end)) end = cr;
      }
      if (end === -1) break;
      field(text.slice(start, end), events);
      start = end + 1;
      if (text.charCodeAt(end) === 13) {
        if (start === text.length) afterCr = true;
        else if (text.charCodeAt(start) === 10) start += 1;
      }
    }
    rest = start === 0 ? text : text.slice(start);
    if (rest.length > MAX_EVENT_CHARS) throw tooLong();
  }

  function take(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    let piece = text;
    if (afterCr && piece !== "") {
      afterCr = false;
      // The LF of a CRLF that was split.
      if (piece.charCodeAt(0) === 10) piece = piece.slice(1);
    }
    lines(rest === "" ? piece : rest + piece, events);
    return events;
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      const events = [...take(decoder.decode())];
      if (rest !== "") field(rest, events);
      rest = "";
      dispatch(events);
      return events;
    },
  };
}

/** One JSON text per line. */
export function createLineParser(): EventParser {
  const decoder = new TextDecoder();
  let rest = "";
  function take(text: string): StreamEvent[] {
    const found = (rest + text).split("\n");
    rest = found.pop() ?? "";
    if (rest.length > MAX_EVENT_CHARS) throw tooLong();
    return found.flatMap((line) => (line.trim() === "" ? [] : [{ event: "", data: line }]));
  }
  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(`${decoder.decode()}\n`),
  };
}

function tooLong(): Error {
  return modelFailed({ phase: "stream", malformed: true, text: `one event of the response is longer than ${MAX_EVENT_CHARS / 1024 / 1024} MiB` });
}

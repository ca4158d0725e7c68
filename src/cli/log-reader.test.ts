import { appendFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseLogLine, readLog } from "./log-reader.ts";

const logFile = () => join(mkdtempSync(join(tmpdir(), "openclaw-logs-")), "a.log");

test("reading goes on where it stopped and never gives half a line", () => {
  const file = logFile();
  writeFileSync(file, "one\ntwo\nthr");
  const first = readLog(file, { maxBytes: 1000 })!;
  expect(first.lines).toEqual(["one", "two"]);
  appendFileSync(file, "ee\nfour\n");
  expect(readLog(file, { cursor: first.cursor, maxBytes: 1000 })!.lines).toEqual(["three", "four"]);
});

test("only the end of a large file is read, and that is said", () => {
  const file = logFile();
  writeFileSync(file, Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join(""));
  const chunk = readLog(file, { maxBytes: 100 })!;
  expect(chunk.truncated).toBe(true);
  expect(chunk.lines.at(-1)).toBe("line 999");
  expect(chunk.lines.every((line) => /^line \d+$/.test(line))).toBe(true);
});

test("a file that became shorter was rotated and is read from its start", () => {
  const file = logFile();
  writeFileSync(file, "new\n");
  expect(readLog(file, { cursor: 500, maxBytes: 1000 })).toMatchObject({ lines: ["new"], rotated: true, cursor: 4 });
});

test("a cursor counts bytes, whatever the characters", () => {
  const file = logFile();
  writeFileSync(file, "grüße 😀\n");
  const { cursor, size } = readLog(file, { maxBytes: 1000 })!;
  expect(cursor).toBe(size);
});

test("our lines are read as records, anything else is kept as it is", () => {
  const raw = JSON.stringify({ time: "2026-01-01T00:00:00.000Z", level: "info", subsystem: "store", message: "hi", extra: 1 });
  expect(parseLogLine(raw)).toEqual({ type: "log", time: "2026-01-01T00:00:00.000Z", level: "info", subsystem: "store", message: "hi", raw });
  expect(parseLogLine("Segmentation fault")).toEqual({ type: "raw", raw: "Segmentation fault" });
});

test("a missing file is not an error of the reader", () => {
  expect(readLog("/nonexistent/x.log", { maxBytes: 10 })).toBeUndefined();
});

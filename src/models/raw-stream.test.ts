import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createLogger, type LogRecord } from "../base/log/logger.ts";
import { createRedactor } from "../base/redaction.ts";
import { createRawStream, type RawStream } from "./raw-stream.ts";

const CALL = { provider: "acme", model: "large", api: "ollama" };

function start(
  maxBytes?: number,
  name = "logs/raw.jsonl",
): { readonly raw: RawStream; readonly file: string; readonly records: LogRecord[]; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "raw-stream-"));
  const clock = manualClock(5);
  const redactor = createRedactor();
  const records: LogRecord[] = [];
  const log = createLogger({
    clock,
    redactor,
    outputs: [{ level: "trace", sink: { write: (record) => records.push(record), flush: () => Promise.resolve() } }],
  });
  const file = join(folder, name);
  return { raw: createRawStream({ file, clock, log, redactor, ...(maxBytes === undefined ? {} : { maxBytes }) }), file, records, folder };
}

test("events of calls that run side by side are lines in the order they came", async () => {
  const { raw, file } = start();
  const [one, two] = [raw.rawLog({ ...CALL, runId: "1" }), raw.rawLog({ ...CALL, runId: "2" })];
  one({ event: "a", data: "first\nline" });
  two({ event: "", data: "second" });
  one({ event: "", data: "third" });
  await raw[Symbol.asyncDispose]();
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { ts: 5, runId: "1", ...CALL, event: "a", data: "first\nline" },
    { ts: 5, runId: "2", ...CALL, event: "", data: "second" },
    { ts: 5, runId: "1", ...CALL, event: "", data: "third" },
  ]);
});

test("a file that would become too large is kept as .1, and both are private", async () => {
  const { raw, file } = start(100);
  for (const data of ["old", "new"]) {
    raw.rawLog(CALL)({ event: "", data });
    await raw[Symbol.asyncDispose]();
  }
  expect(readFileSync(`${file}.1`, "utf8")).toContain("old");
  expect(readFileSync(file, "utf8")).not.toContain("old");
  expect(readFileSync(file, "utf8")).toContain("new");
  for (const each of [file, `${file}.1`]) expect(statSync(each).mode & 0o777).toBe(0o600);
});

test("a path that cannot be written is reported once and disturbs nobody", async () => {
  const { raw, records, folder } = start(undefined, "occupied/raw.jsonl");
  writeFileSync(join(folder, "occupied"), "");
  for (let n = 0; n < 3; n += 1) {
    raw.rawLog(CALL)({ event: "", data: "lost" });
    await raw[Symbol.asyncDispose]();
  }
  expect(records.map(({ message }) => message)).toEqual([expect.stringContaining("the raw stream cannot be written to")]);
});

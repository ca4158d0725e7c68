import { mkdtempSync, readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../clock.ts";
import { createRedactor } from "../redaction.ts";
import { createConsoleSink, formatLine } from "./console-sink.ts";
import { createFileSink, type FileSinkDeps } from "./file-sink.ts";
import { createLogger, type LogLevel, type LogRecord } from "./logger.ts";

const folder = () => mkdtempSync(join(tmpdir(), "openclaw-log-"));

function memory(level: LogLevel, levels: Record<string, LogLevel> = {}) {
  const records: LogRecord[] = [];
  const redactor = createRedactor();
  const sink = { write: (record: LogRecord) => void records.push(record), flush: () => Promise.resolve() };
  return { records, redactor, log: createLogger({ clock: manualClock(1000), redactor, outputs: [{ sink, level }], levels }) };
}

function fileLog(over: Partial<FileSinkDeps> = {}) {
  const path = join(folder(), "openclaw.log");
  const problems: string[] = [];
  const clock = manualClock();
  const sink = createFileSink({ clock, file: () => path, maxBytes: 1_000_000, onProblem: (text) => problems.push(text), ...over });
  return { path, problems, clock, sink, log: createLogger({ clock, redactor: createRedactor(), outputs: [{ sink, level: "info" }] }) };
}

test("a record below the level is not written", () => {
  const { log, records } = memory("warn");
  log.info("quiet");
  log.error("loud");
  expect(records.map((record) => record.message)).toEqual(["loud"]);
});

test("a subsystem can have a level of its own", () => {
  const { log, records } = memory("info", { store: "trace", gateway: "silent" });
  log.subsystem("store").trace("detail");
  log.subsystem("gateway").fatal("never seen");
  log.subsystem("config").debug("too fine");
  expect(records.map((record) => [record.subsystem, record.message])).toEqual([["store", "detail"]]);
});

test("secrets never reach a sink, neither in the message nor in the fields", () => {
  const { log, records, redactor } = memory("info");
  redactor.register("s3cret-value");
  log.info("using s3cret-value", { header: "x s3cret-value", token: "abc" });
  expect(JSON.stringify(records)).not.toMatch(/s3cret-value|abc/);
});

test("the console shows time, level, subsystem, message and fields, with colors only on request", () => {
  const written: string[] = [];
  const stream = { write: (text: string) => void written.push(text) };
  const record: LogRecord = { time: 0, level: "warn", subsystem: "store", message: "slow commit", fields: { ms: 12, note: "two words" } };
  createConsoleSink({ stream, style: "pretty", color: false }).write(record);
  createConsoleSink({ stream, style: "json", color: false }).write(record);
  expect(written[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}\[store\] slow commit ms=12 note="two words"\n$/);
  expect(JSON.parse(written[1]!)).toEqual({
    ms: 12,
    note: "two words",
    time: "1970-01-01T00:00:00.000Z",
    level: "warn",
    subsystem: "store",
    message: "slow commit",
  });
  expect(formatLine(record, { color: true })).toContain("\x1b[33m");
});

test("the console shows an error's message, the file all of it", async () => {
  const written: string[] = [];
  const { sink, path } = fileLog();
  const clock = manualClock();
  const screen = createConsoleSink({ stream: { write: (text) => void written.push(text) }, style: "compact", color: false });
  const outputs = [sink, screen].map((to) => ({ sink: to, level: "info" as const }));
  createLogger({ clock, redactor: createRedactor(), outputs }).warn("failed", { error: new Error("no space") });
  await sink.flush();
  expect(written[0]).toMatch(/failed error="no space"\n$/);
  expect(JSON.parse(readFileSync(path, "utf8")).error.stack).toContain("logger.test.ts");
});

test("the file gets one JSON line per record, in order", async () => {
  const { log, path, sink } = fileLog();
  for (let i = 0; i < 100; i += 1) log.info(`line ${i}`, { i });
  await sink.flush();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).i)).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test("a file that grows too large is rotated and the newest lines stay in it", async () => {
  const { log, path, sink } = fileLog({ maxBytes: 300 });
  for (let i = 0; i < 10; i += 1) {
    log.info(`line ${i}`);
    await sink.flush();
  }
  expect(readFileSync(path, "utf8")).toContain("line 9");
  expect(readFileSync(`${path}.1`, "utf8").length).toBeLessThanOrEqual(300);
});

test("dated files that are too old are removed, everything else in the folder stays", async () => {
  const dir = folder();
  const clock = manualClock(Date.UTC(2026, 0, 10));
  for (const name of ["app-2026-01-01.log", "app-2026-01-09.log", "other-2026-01-01.log", "notes.txt"]) writeFileSync(join(dir, name), "");
  utimesSync(join(dir, "app-2026-01-01.log"), 0, Date.UTC(2026, 0, 1) / 1000);
  utimesSync(join(dir, "app-2026-01-09.log"), 0, Date.UTC(2026, 0, 9, 12) / 1000);
  utimesSync(join(dir, "other-2026-01-01.log"), 0, 0);
  const sink = createFileSink({ clock, file: () => join(dir, "app-2026-01-10.log"), maxBytes: 1000, keepMs: 86_400_000, onProblem: () => {} });
  sink.write({ time: clock.now(), level: "info", subsystem: "app", message: "hello", fields: {} });
  await sink.flush();
  expect(readdirSync(dir).sort()).toEqual(["app-2026-01-09.log", "app-2026-01-10.log", "notes.txt", "other-2026-01-01.log"]);
});

test("a file that cannot be written is reported once and never throws", async () => {
  const { log, problems, sink } = fileLog({ file: () => "/proc/version/nope.log" });
  log.info("one");
  await sink.flush();
  log.info("two");
  await sink.flush();
  expect(problems).toHaveLength(1);
});

test("the last lines can be written synchronously when the process ends", () => {
  const { log, path, sink } = fileLog();
  log.info("goodbye");
  sink.flushNow();
  expect(readFileSync(path, "utf8")).toContain("goodbye");
});

test("a changed level applies from the next line on, also in existing loggers", () => {
  const records: LogRecord[] = [];
  const sink = { write: (record: LogRecord) => void records.push(record), flush: () => Promise.resolve() };
  let level: LogLevel = "info";
  const output = {
    sink,
    get level() {
      return level;
    },
  };
  const log = createLogger({ clock: manualClock(1000), redactor: createRedactor(), outputs: [output] }).subsystem("store");
  log.debug("before");
  level = "debug";
  log.debug("after");
  expect(records.map(({ message }) => message)).toEqual(["after"]);
});

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../clock.ts";
import { createRedactor } from "../redaction.ts";
import { openLogging } from "./logging.ts";

test("every setting of the log is taken over while it runs: file, style of the console, level", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-logging-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const screen: string[] = [];
  const console = { write: (text: string) => void screen.push(text), color: false, terminal: false };
  const first = join(folder, "first.log");
  const logging = openLogging({ settings: { file: first }, stateDir: folder, console, verbose: false }, { clock: systemClock, redactor: createRedactor() });
  const log = logging.log.subsystem("test");
  log.info("before");
  await logging.file.flush();
  const second = join(folder, "second.log");
  logging.follow({ file: second, consoleStyle: "json", level: "debug" });
  log.debug("quiet on the screen");
  log.info("after");
  await logging.file.flush();
  const messages = (file: string): unknown[] =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { message: string }).message);
  expect([messages(first), messages(second), logging.path()]).toEqual([["before"], ["quiet on the screen", "after"], second]);
  expect(screen.map((line) => line.startsWith("{"))).toEqual([false, true]);
  logging.follow(undefined);
  expect(logging.path()).not.toBe(second);
});

test("patterns of logging.redactPatterns are masked, also ones that come later, and one that is none is named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-logging-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const screen: string[] = [];
  const console = { write: (text: string) => void screen.push(text), color: false, terminal: false };
  const settings = { file: join(folder, "log"), redactPatterns: ["customer-\\d+", "("] };
  const logging = openLogging({ settings, stateDir: folder, console, verbose: false }, { clock: systemClock, redactor: createRedactor() });
  logging.log.info("customer-4711 wrote about order-1");
  logging.follow({ ...settings, redactPatterns: ["order-\\d+"] });
  logging.log.info("customer-4711 wrote about order-1");
  await logging.file.flush();
  expect(screen.join("")).toMatch(/"\(" is no regular expression[^]*\*\*\* wrote about order-1[^]*customer-4711 wrote about \*\*\*/);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readStatus } from "./status.ts";

function program(...path: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "update-status-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, ...path);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "package.json"), '{ "version": "1.2.3" }');
  return root;
}

const status = (root: string, { env = {}, runnable }: { readonly env?: Record<string, string>; readonly runnable?: (text: string) => string } = {}) =>
  readStatus({ version: "1.2.3", env: { PATH: process.env["PATH"], ...env }, root, build: undefined, startedAtMs: () => 0, runnable }, null);

const inCheckout = (text: string): string => text.replaceAll("openclaw ", "bin/openclaw ");

test("the command that restarts the program works where it is pasted", async () => {
  const unpacked = program("openclaw");
  expect((await status(unpacked, { runnable: inCheckout })).restartCommand).toBe(`cd ${unpacked} && bin/openclaw gateway stop && npm start`);
  const spaced = program("my programs");
  expect((await status(spaced, { runnable: inCheckout, env: { OPENCLAW_SERVICE_MARKER: "openclaw" } })).restartCommand).toBe(
    `cd '${spaced}' && bin/openclaw gateway restart`,
  );
});

test("a package was not started with npm start, which it does not have", async () => {
  const installed = program("lib", "node_modules", "openclaw");
  const { restartCommand, install, commands } = await status(installed);
  expect({ restartCommand, install, commands }).toEqual({ restartCommand: "openclaw gateway stop && openclaw gateway", install: "package", commands: [] });
  expect((await status(installed, { env: { OPENCLAW_SERVICE_MARKER: "openclaw" } })).restartCommand).toBe("openclaw gateway restart");
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bindSdkHost } from "../../../src/plugins/sdk/host-binding.ts";
import { endLeftover, type ProgramOptions, startProgram } from "../../../src/plugins/sdk/paths/channel-kit.ts";

const script = (code: string, more: Partial<ProgramOptions> = {}) => startProgram({ command: process.execPath, args: ["-e", code], ...more });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a program gets its arguments and input, and its lines come one by one", async () => {
  const lines: string[] = [];
  const program = await script(
    `process.stdout.write("one\\nt"); setTimeout(() => console.log("wo"), 20); console.error("ä"); process.stdin.once("data", (data) => { console.log("got " + data); process.exit(7); })`,
    { input: true, onLine: (line, stream) => void lines.push(`${stream} ${line}`) },
  );
  await expect.poll(() => lines).toContain("stdout two");
  expect(program.write("text")).toBe(true);
  expect(await program.exited).toEqual({ code: 7, signal: null });
  expect(lines.toSorted()).toEqual(["stderr ä", "stdout got text", "stdout one", "stdout two"]);
  await program.stop();
});

test("one that does not end when it is asked to is killed, with what it started", async () => {
  const lines: string[] = [];
  const child = `setInterval(() => {}, 1e6)`;
  const program = await script(
    `process.on("SIGTERM", () => {}); const { pid } = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(child)}]); console.log(pid); setInterval(() => {}, 1e6)`,
    { graceMs: 50, onLine: (line) => void lines.push(line) },
  );
  await expect.poll(() => lines.length).toBe(1);
  await program.stop();
  expect(await program.exited).toEqual({ code: null, signal: "SIGKILL" });
  await expect.poll(() => [program.pid, Number(lines[0])].map(isAlive)).toEqual([false, false]);
});

test("secrets of the gateway's environment and variables that load code are withheld", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "kit-program-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const env = { HOME: "/home/x", PATH: process.env["PATH"], TELEGRAM_BOT_TOKEN: "canary", NODE_OPTIONS: "--require=/canary.js" };
  using _host = bindSdkHost({ env, stateDir });
  const lines: string[] = [];
  const program = await script(`console.log(JSON.stringify([process.cwd(), process.env]))`, { env: { OWN: "yes" }, onLine: (line) => void lines.push(line) });
  await program.exited;
  expect(JSON.parse(lines[0]!)).toEqual([stateDir, { HOME: "/home/x", PATH: env.PATH, OWN: "yes" }]);
});

test("a program that is not there is an error that trying again does not mend", async () => {
  await expect(startProgram({ command: "/nowhere/at-all" })).rejects.toMatchObject({
    permanent: true,
    message: expect.stringContaining("is not installed") as string,
  });
});

test("a program that was left behind is ended by its identity, and by nothing less", async () => {
  const ready = Promise.withResolvers<void>();
  const program = await script(`process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1e6)`, { onLine: () => ready.resolve() });
  await ready.promise;
  const { pid, startTime, bootId } = program.identity;
  const strange: unknown[] = [
    undefined,
    null,
    {},
    pid,
    { pid },
    { pid, startTime },
    { pid: 1, startTime, bootId },
    { pid, startTime: Number(startTime) + 1, bootId },
    { pid, startTime, bootId: "another" },
  ];
  for (const stored of strange) expect(await endLeftover(stored, 0)).toBe(false);
  expect(isAlive(program.pid)).toBe(true);
  expect(await endLeftover(JSON.parse(JSON.stringify(program.identity)), 50)).toBe(true);
  expect(await program.exited).toEqual({ code: null, signal: "SIGKILL" });
  expect(await endLeftover(program.identity)).toBe(false);
});

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runChannelAccount } from "openclaw/plugin-sdk/testing";
import { type FakeProgram, type ProgramSettings, writeProgram } from "../../test/fakes/signal/index.ts";
import { identify, isRunning } from "../../src/base/process-identity.ts";
import { freePort } from "../../test/harness/free-port.ts";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
let folder: string;
let httpPort: number;

beforeEach(async () => {
  bench = await openBench();
  folder = mkdtempSync(join(tmpdir(), "signal-cli-"));
  httpPort = await freePort();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const program = (settings: Partial<ProgramSettings> = {}): FakeProgram => writeProgram(folder, { port: bench.signal.server.port, ...settings });
const section = (cliPath: string, more = {}) => ({ httpUrl: undefined, httpPort, cliPath, ...more });
const start = (cliPath: string, more = {}) => runChannelAccount(bench.channel, { cfg: bench.cfg(section(cliPath, more)) });
const isUp = ({ connected }: { connected?: boolean | undefined }): boolean => connected === true;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("signal-cli is started with its flags, awaited, used, and ended with the account", async () => {
  const { path, starts, pids } = program({ lateMs: 300 });
  const account = start(path, { configPath: "/data/signal", ignoreAttachments: true, ignoreStories: true });
  await account.shows(isUp);
  const flags = `--http 127.0.0.1:${httpPort} --no-receive-stdout --receive-mode on-connection --ignore-attachments --ignore-stories`;
  expect(starts().map((args) => args.join(" "))).toEqual([`--config /data/signal -a ${bench.signal.world.me.number} daemon ${flags}`]);
  expect(account.status).toMatchObject({ cliPath: path, mode: "native" });
  bench.signal.world.say(bench.anna, "hello");
  await account.event(({ text }) => text === "hello");
  await bench.channel.outbound!.sendText!({ cfg: bench.cfg(section(path)), to: bench.anna.number!, text: "hi" });
  expect(bench.signal.world.sent(bench.anna.uuid)).toMatchObject([{ text: "hi" }]);
  expect(isAlive(pids()[0]!)).toBe(true);
  expect(await account.stop()).toBeUndefined();
  expect(isAlive(pids()[0]!)).toBe(false);
});

test("one that is killed is started again, and brings what came", async () => {
  const { path, pids } = program();
  await using account = start(path);
  await account.shows(isUp);
  bench.signal.world.say(bench.anna, "one");
  await account.event(({ text }) => text === "one");
  process.kill(pids()[0]!, "SIGKILL");
  await account.shows(({ connected }) => connected === false);
  bench.signal.world.say(bench.anna, "two");
  await account.event(({ text }) => text === "two");
  expect(pids()).toHaveLength(2);
});

test("one that runs already is used as it is, and not ended", async () => {
  const first = program();
  const account = start(first.path);
  await account.shows(isUp);
  // As if another program had started it.
  bench.stored.clear();
  const other = runChannelAccount(bench.channel, { cfg: bench.cfg(section(first.path)) });
  await other.shows(isUp);
  await other.stop();
  expect(first.starts()).toHaveLength(1);
  expect(isAlive(first.pids()[0]!)).toBe(true);
  await account.stop();
});

test("one that a killed gateway left behind is ended, and another is started", async () => {
  const { path, starts, pids } = program({ isStubborn: true });
  const child = spawn(path, ["--http", `127.0.0.1:${httpPort}`], { detached: true, stdio: "ignore" });
  const left = child.pid!;
  await expect.poll(() => starts().length).toBe(1);
  bench.stored.set("program:default", identify(left));
  await using account = start(path);
  await account.shows(isUp);
  expect(pids()).toHaveLength(2);
  expect(isRunning({ pid: left })).toBe(false);
  expect(bench.stored.get("program:default")).toMatchObject({ pid: pids()[1] });
  process.kill(pids()[1]!, "SIGKILL");
});

test("one that ends at once is tried again, and what it wrote is the reason", async () => {
  const { path, starts } = program({ exit: { code: 3, line: "ERROR Config file is in use by another instance" } });
  await using account = start(path);
  await account.shows(({ lastError }) => lastError?.includes("code 3 before it responded: ERROR Config file is in use") === true);
  await expect.poll(() => starts().length).toBeGreaterThan(1);
  expect(bench.delays.some((ms) => ms >= 1000)).toBe(true);
});

test("an account that is not registered and a program that is not there end for good, with what to do", async () => {
  const unregistered = program({ exit: { code: 1, line: "User +15550001111 is not registered." } });
  await using account = start(unregistered.path);
  expect(await account.ended).toMatchObject({ permanent: true, message: expect.stringContaining("link or register") as string });
  await using missing = start(join(folder, "nothing-here"));
  expect(await missing.ended).toMatchObject({ permanent: true, message: expect.stringContaining("install signal-cli") as string });
});

test("one that never answers is ended after startupTimeoutMs", async () => {
  const { path, pids } = program({ lateMs: 600_000 });
  await using account = start(path, { startupTimeoutMs: 1000 });
  await account.shows(({ lastError }) => lastError?.includes("did not answer within 1000 ms") === true);
  expect(isAlive(pids()[0]!)).toBe(false);
});

test("two accounts do not start signal-cli at the same address", async () => {
  const { path } = program();
  const accounts = { one: { account: "+15550001111" }, two: { account: "+15550002222" } };
  const cfg = { channels: { signal: { cliPath: path, httpPort, accounts } } };
  await using account = runChannelAccount(bench.channel, { cfg, accountId: "two" });
  expect(await account.ended).toMatchObject({ permanent: true, message: expect.stringContaining("its own httpPort") as string });
  await using alone = runChannelAccount(bench.channel, {
    cfg: { channels: { signal: { cliPath: path, httpPort, accounts: { one: accounts.one, two: { ...accounts.two, enabled: false } } } } },
    accountId: "one",
  });
  await alone.shows(isUp);
});

test("what cannot be started is a problem of the account", () => {
  const problems = (more: object) => bench.channel.config.resolveAccount(bench.cfg({ httpUrl: undefined, ...more })).problems.join(" ");
  expect(problems({ cliPath: "signal-cli; rm -rf /" })).toContain("cliPath");
  expect(problems({ cliPath: "-x" })).toContain("cliPath");
  expect(problems({ apiMode: "container" })).toContain("autoStart to false");
  expect(problems({ account: "anna" })).toContain("country code");
  expect(problems({ account: undefined })).toContain("no number of the bot");
  expect(problems({ cliPath: "/opt/signal-cli 0.14/bin/signal-cli" })).toBe("");
});

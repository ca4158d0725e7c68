import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRpcProcess, type RpcProcessOptions } from "../../../src/plugins/sdk/paths/channel-kit.ts";
import { isRunning } from "../../../src/base/process-identity.ts";

let folder: string;
let stop: AbortController;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rpc-"));
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  rmSync(folder, { recursive: true, force: true });
});

/** A program that answers by method: `echo` with its params, `twice` with two notifications before, and so on. */
const PROGRAM = `
import { createInterface } from "node:readline";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
process.on("SIGTERM", () => { if (!process.env.LANG.includes("stubborn")) process.exit(3); });
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "echo") write({ id, result: params });
  if (method === "noted") { write({ method: "note", params: { n: 1 } }); write({ method: "note", params: { n: 2 } }); write({ id, result: null }); }
  if (method === "refuse") write({ id, error: { code: -32602, message: "Invalid params", data: "text is required" } });
  if (method === "noise") { process.stdout.write("hello\\n[1]\\n\\n"); process.stderr.write("warning\\n"); write({ id, result: "after" }); }
  if (method === "split") { const text = JSON.stringify({ id, result: "ä🎉".repeat(50000) }) + "\\n"; const all = Buffer.from(text); process.stdout.write(all.subarray(0, 20)); setTimeout(() => process.stdout.write(all.subarray(20)), 20); }
  if (method === "long") process.stdout.write("x".repeat(2000000));
  if (method === "die") { process.stderr.write("out of memory\\n"); process.exitCode = 9; process.exit(); }
  if (method === "env") write({ id, result: { home: process.env.HOME, secret: process.env.MY_TOKEN ?? null } });
});
lines.on("close", () => { if (!process.env.LANG.includes("lingering") && !process.env.LANG.includes("stubborn")) process.exit(0); else setInterval(() => {}, 1000); });
`;

function open(more: Partial<RpcProcessOptions> = {}, lang = "C") {
  const path = join(folder, "program.mjs");
  writeFileSync(path, PROGRAM);
  const env = { PATH: process.env["PATH"], HOME: folder, LANG: lang, MY_TOKEN: "secret" };
  return openRpcProcess({ platform: "Program", command: process.execPath, args: [path], env, signal: stop.signal, onNotification: () => {}, ...more });
}

test("requests are answered, in any number at a time, and notifications come in order", async () => {
  const notes: unknown[] = [];
  const process = await open({ onNotification: (method, params) => void notes.push([method, params]) });
  const answers = await Promise.all([1, 2, 3].map((n) => process.request("echo", { n })));
  expect(answers).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(await process.request("noted")).toBeNull();
  expect(notes).toEqual([
    ["note", { n: 1 }],
    ["note", { n: 2 }],
  ]);
  expect(await process.request("split")).toBe("ä🎉".repeat(50_000));
  expect(await process.request("echo", { text: "x".repeat(3_000_000) })).toMatchObject({ text: expect.stringMatching(/^x+$/) as string });
});

test("an error says what became of the request", async () => {
  const process = await open();
  await expect(process.request("refuse")).rejects.toMatchObject({
    message: "Program refused refuse: Invalid params: text is required",
    reason: "-32602",
    delivery: { state: "failed" },
  });
  await expect(process.request("nothing", {}, { timeoutMs: 50 })).rejects.toMatchObject({ delivery: { state: "unknown" } });
  const cancel = new AbortController();
  const cancelled = process.request("nothing", {}, { signal: cancel.signal });
  cancel.abort();
  await expect(cancelled).rejects.toMatchObject({ delivery: { state: "unknown" } });
  await expect(process.request("echo", {}, { signal: cancel.signal })).rejects.toMatchObject({ delivery: { state: "retry" } });
  await expect(process.request("die")).rejects.toMatchObject({ delivery: { state: "unknown" } });
  expect(await process.ended).toEqual({ code: 9, signal: null, error: undefined, noise: "out of memory" });
  await expect(process.request("echo")).rejects.toMatchObject({ delivery: { state: "retry" } });
});

test("what is not of the protocol is noise, and a line without an end is not read forever", async () => {
  const noise: string[] = [];
  const process = await open({ onNoise: (text) => void noise.push(text), maxLineBytes: 1_000_000 });
  expect(await process.request("noise")).toBe("after");
  await expect.poll(() => noise.toSorted()).toEqual(["[1]", "hello", "warning"]);
  const long = process.request("long", {}, { timeoutMs: 60_000 });
  await expect.poll(() => noise).toContainEqual(expect.stringContaining("more than 1000000 bytes"));
  await process.close();
  await expect(long).rejects.toMatchObject({ delivery: { state: "unknown" } });
});

test("a program that does not end when its input is closed is terminated, and killed if it must be", async () => {
  const polite = await open();
  await polite.request("echo");
  await polite.close();
  expect(await polite.ended).toMatchObject({ code: 0, signal: null });
  const lingering = await open({ stopMs: 50 }, "lingering");
  await lingering.request("echo");
  await lingering.close(new Error("enough"));
  expect(await lingering.ended).toMatchObject({ code: 3, error: { message: "enough" } });
  const stubborn = await open({ stopMs: 50 }, "stubborn");
  await stubborn.request("echo");
  stop.abort();
  expect(await stubborn.ended).toMatchObject({ code: null, signal: "SIGKILL" });
  expect(isRunning({ pid: stubborn.pid })).toBe(false);
});

test("reading can pause, and requests wait for it", async () => {
  const process = await open();
  await process.request("echo");
  process.flow(false);
  // The next chunk is read and holds the rest back.
  const held = process.request("noted", {}, { timeoutMs: 50 });
  const behind = process.request("echo", { n: 1 }, { timeoutMs: 50 });
  setTimeout(() => process.flow(true), 200);
  expect([await held, await behind]).toEqual([null, { n: 1 }]);
});

test("secrets of the gateway do not reach it, and a program that is not there ends an account", async () => {
  const process = await open();
  expect(await process.request("env")).toEqual({ home: folder, secret: null });
  await expect(open({ command: join(folder, "nothing") })).rejects.toMatchObject({ permanent: true, code: "NOT_FOUND" });
  await expect(open({ command: join(folder, "program.mjs") })).rejects.toMatchObject({ permanent: true, code: "FORBIDDEN" });
});

/**
 * A model that was talked into everything, at a real gateway: the files it was not granted (17, 18).
 * The model is sent each refusal, and the transcript keeps it; what is granted works, so that a refusal means something.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CANARIES, read, write, edit, exec, startHijackedGateway, type HijackedGateway } from "../harness/hijacked-gateway.ts";
import { expectInTime } from "../harness/in-time.ts";

let at: HijackedGateway;

beforeAll(async () => {
  at = await startHijackedGateway();
});
afterAll(() => at?.[Symbol.asyncDispose]());

const ways = (): readonly string[] => [
  at.secretFile,
  "../outside/secret.txt",
  "a/../../outside/secret.txt",
  "~/outside/secret.txt",
  `@${at.secretFile}`,
  `${at.workspace("fenced")}/../outside/secret.txt`,
];
const ESCAPES = /escapes sandbox root/;

test("who has the workspace only reads, writes, edits and searches nothing else", async () => {
  await at.refused("fenced", [...ways().map(read), ...ways().map((path) => write(path)), ...ways().map(edit)], ESCAPES);
  const search = ["grep", "find", "ls"].flatMap((name) => ways().map((path) => ({ name, args: { pattern: "canary", path } })));
  await at.refused("fenced", [...search, { name: "ls", args: { path: ".." } }, { name: "find", args: { pattern: "**", path: at.outside } }], ESCAPES);
  await at.refused("fenced", [write(join(at.outside, "new.txt")), write("../outside/deep/er/new.txt"), write(join(at.place.home, ".bashrc"))], /escapes/);
  await at.refused(
    "fenced",
    [read("/proc/self/environ"), read("/proc/self/root/etc/passwd"), read("/dev/zero"), read("/proc/self/fd/0")],
    /escapes|no regular|could not/,
  );
  expect(readFileSync(at.secretFile, "utf8")).toBe(CANARIES.secret);
  expect(readdirSync(at.outside)).toEqual(["secret.txt"]);
  await at.works("fenced", write("own/notes.txt", "mine"));
  expect(await at.works("fenced", read("own/notes.txt"))).toBe("mine");
  expect(await at.works("free", read(at.secretFile))).toBe(CANARIES.secret);
});

test("links do not lead out, no matter who made them", async () => {
  await at.works("fenced", exec(`ln -s ${at.secretFile} link`));
  await at.works("fenced", exec(`ln -s ${at.outside} folder`));
  await at.refused("fenced", [exec("ln -s /proc/self/environ environ")], /allowlist miss/);
  symlinkSync("/proc/self/environ", at.inside("fenced", "environ"));
  await at.refused(
    "fenced",
    [read("link"), write("link"), edit("link"), read("folder/secret.txt"), write("folder/new.txt"), write("folder/a/b"), read("environ")],
    /escapes|could not/,
  );
  expect(readFileSync(at.secretFile, "utf8")).toBe(CANARIES.secret);
  expect(readdirSync(at.outside)).toEqual(["secret.txt"]);
});

test("18: no parameter of any tool leads out", async () => {
  await at.works("fenced", read("."), { session: "parameters" }).catch(() => undefined);
  const calls = at.model.requests.at(-1)!.tools.flatMap(({ name, parameters: { properties = {} } }) => {
    const texts = Object.entries(properties).filter(([, { type, enum: words }]) => type === "string" && !words);
    const all = Object.fromEntries(texts.map(([key]) => [key, at.secretFile]));
    const usual = {
      path: ".",
      pattern: "canary",
      command: "cat .",
      content: "x",
      oldText: "x",
      newText: "y",
      action: "log",
      query: "x",
      url: "http://127.0.0.1:1/",
    };
    return [
      all,
      ...texts.map(([key]) => ({ ...usual, [key]: at.secretFile })),
      { ...usual, url: `file://${at.secretFile}`, image: `file://${at.secretFile}` },
    ].map((args) => ({ name, args }));
  });
  expect(calls.length).toBeGreaterThan(40);
  const results = await at.order(
    "fenced",
    calls.filter(({ name }) => name !== "gateway"),
    { session: "parameters" },
  );
  for (const [n, { text }] of results.entries()) expect(text, JSON.stringify(calls[n])).not.toContain(CANARIES.secret);
  expect(readFileSync(at.secretFile, "utf8")).toBe(CANARIES.secret);
  expect(readdirSync(at.outside)).toEqual(["secret.txt"]);
});

test("17: nothing leads out while links are swapped", async () => {
  const [door, fair, foul] = [at.inside("fenced", "door"), at.inside("fenced", "fair"), at.outside];
  mkdirSync(fair);
  writeFileSync(join(fair, "secret.txt"), "fair");
  symlinkSync(fair, door);
  let swaps = 0;
  const swapper = setInterval(() => {
    for (const target of [foul, fair, foul]) {
      symlinkSync(target, `${door}.new`);
      renameSync(`${door}.new`, door);
    }
    swaps += 3;
  }, 0);
  const results = await at
    .order(
      "fenced",
      Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? read("door/secret.txt") : write("door/made.txt"))),
    )
    .finally(() => clearInterval(swapper));
  for (const { text } of results) expect(text).not.toContain(CANARIES.secret);
  expect(readdirSync(at.outside)).toEqual(["secret.txt"]);
  expect(swaps).toBeGreaterThan(10);
});

test("no file holds up the gateway, of whatever kind and size", async () => {
  execFileSync("mkfifo", [at.inside("fenced", "pipe")]);
  writeFileSync(at.inside("fenced", "huge"), "x".repeat(10_000));
  truncateSync(at.inside("fenced", "huge"), 10 * 1024 ** 3);
  const started = performance.now();
  await at.refused("fenced", [read("pipe"), read("."), write("pipe/x")], /no regular file|a folder|could not|not a/i);
  await at.refused("fenced", [{ name: "read", args: { path: "huge", offset: 5 } }, edit("huge")], /longer than|large|beyond/i);
  // The beginning of its one line is shown, and no more.
  const [page] = await at.order("fenced", [read("huge")]);
  expect([page!.text.startsWith("xxx"), page!.text.length < 1_000_000, page!.text]).toEqual([true, true, expect.stringMatching(/column=\d+ to continue/)]);
  await at.refused("free", [read("/dev/zero"), read("/dev/stdin")], /no regular file/);
  expectInTime(performance.now() - started, 8_000);
});

/** Downloads of programs for skills, from a server on this machine. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DownloadSpec } from "../../src/agent/index.ts";
import { startLoopbackServer, type LoopbackHandler } from "../../src/base/loopback-server.fixture.ts";
import { download, recoverDownloads, type DownloadDeps } from "../../src/plugins/skills/download.ts";
import { LIMITS } from "../../src/plugins/install/limits.ts";
import { tarOf, tgzOf, zipOf, type ArchiveEntry } from "../harness/archives.ts";
import { skillPlace, type SkillPlace } from "./place.ts";

const LOCAL = { policy: { allowPrivateNetwork: true } };
const ENTRIES: readonly ArchiveEntry[] = [
  { name: "tool-1.2/bin/tool", content: "#!/bin/sh\n" },
  { name: "tool-1.2/README", content: "read me" },
];

interface Asked extends Partial<DownloadSpec> {
  readonly name?: string;
  readonly skillKey?: string;
  readonly timeoutMs?: number;
}

/** Downloads what a handler sends. */
async function get(here: SkillPlace, answer: Buffer | LoopbackHandler, asked: Asked = {}, over: Partial<DownloadDeps> = {}): Promise<string> {
  await using server = await startLoopbackServer(typeof answer === "function" ? answer : (_request, response) => response.end(answer));
  const { name = "tool.tar.gz", skillKey = "tool", timeoutMs = 20_000, ...spec } = asked;
  const whole: DownloadSpec = { url: `${server.url}/${name}`, archive: "tar.gz", extract: true, stripComponents: 0, ...spec };
  const deps: DownloadDeps = { ...here.deps, toolsDir: join(here.home, "tools"), network: LOCAL, ...over };
  return await download(whole, { skillKey, bins: ["tool"], timeoutMs, signal: new AbortController().signal, report: () => undefined }, deps);
}

const left = ({ home }: SkillPlace): readonly string[] =>
  existsSync(join(home, "tools")) ? readdirSync(join(home, "tools"), { recursive: true, encoding: "utf8" }).sort() : [];

test.each<[string, () => Promise<Buffer>, Asked]>([
  ["tar.gz", () => tgzOf(ENTRIES), {}],
  ["zip", async () => zipOf(ENTRIES), { archive: "zip" }],
  ["tar.bz2", async () => execFileSync("bzip2", ["-c"], { input: await tarOf(ENTRIES) }), { archive: "tar.bz2" }],
])("a %s is unpacked into the folder of the skill, and its programs can be run", async (_kind, make, asked) => {
  const here = skillPlace();
  expect(await get(here, await make(), { ...asked, stripComponents: 1 })).toBe(join(here.home, "tools/tool"));
  expect(left(here)).toEqual(["tool", "tool/README", "tool/bin", "tool/bin/tool"]);
  expect(statSync(join(here.home, "tools/tool/bin/tool")).mode & 0o111).toBe(0o111);
  expect(statSync(join(here.home, "tools/tool/README")).mode & 0o111).toBe(0);
});

test("a single file keeps its name; a later download replaces it and leaves the others", async () => {
  const here = skillPlace();
  const file = { archive: undefined, extract: false } as const;
  await get(here, Buffer.from("one"), { ...file, name: "tool", targetDir: "bin" });
  await get(here, Buffer.from("model"), { ...file, name: "a%20model.onnx", targetDir: "models" });
  await get(here, Buffer.from("two"), { ...file, name: "tool", targetDir: "bin" });
  expect(left(here)).toEqual(["tool", "tool/bin", "tool/bin/tool", "tool/models", "tool/models/a_model.onnx"]);
  expect(readFileSync(join(here.home, "tools/tool/bin/tool"), "utf8")).toBe("two");
});

test("a folder of an earlier download is replaced as a whole", async () => {
  const here = skillPlace();
  await get(here, await tgzOf(ENTRIES));
  await get(here, await tgzOf([{ name: "tool-1.2/new", content: "new" }]));
  expect(left(here)).toEqual(["tool", "tool/tool-1.2", "tool/tool-1.2/new"]);
});

test("what a server sends has to be what is expected", async () => {
  const here = skillPlace();
  const data = await tgzOf(ENTRIES);
  await expect(get(here, data, { sha256: "0".repeat(64) })).rejects.toThrow(/SHA-256/);
  await get(here, data, { sha256: createHash("sha256").update(data).digest("hex") });
  expect(left(here)).toContain("tool/tool-1.2");
});

test.each<[string, readonly ArchiveEntry[], Asked, RegExp]>([
  ["traversal", [{ name: "../out", content: "x" }], {}, /\.\./],
  ["an absolute path", [{ name: "/tmp/out", content: "x" }], {}, /absolute/],
  [
    "a symbolic link",
    [
      { name: "lib", type: "symlink", target: "tool" },
      { name: "tool", content: "x" },
    ],
    {},
    /link/,
  ],
  ["nothing left", [{ name: "a/b", content: "x" }], { stripComponents: 5 }, /nothing is left/],
  [
    "two of a name",
    [
      { name: "a/b", content: "x" },
      { name: "c/b", content: "y" },
    ],
    { stripComponents: 1 },
    /two entries/,
  ],
  ["a target outside", ENTRIES, { targetDir: "../other" }, /is outside/],
  ["an absolute target outside", ENTRIES, { targetDir: "/tmp" }, /is outside/],
  ["a skill whose key is no folder", ENTRIES, { skillKey: ".." }, /cannot be the name/],
])("an archive with %s is refused and leaves nothing", async (_what, entries, asked, message) => {
  const here = skillPlace();
  await expect(get(here, await tgzOf(entries), asked)).rejects.toThrow(message);
  expect(left(here).filter((path) => path !== "tool")).toEqual([]);
});

test("a damaged archive of each kind is refused", async () => {
  const here = skillPlace();
  for (const archive of ["tar.gz", "tar.bz2", "zip"] as const)
    await expect(get(here, Buffer.from("no archive at all"), { archive })).rejects.toThrow(/damaged|not a \.zip|not an archive/);
  expect(left(here)).toEqual(["tool"]);
});

test("a server that refuses, stops sending, breaks off or sends too much is given up", async () => {
  const here = skillPlace();
  await expect(get(here, (_request, response) => response.writeHead(404).end())).rejects.toThrow(/status 404/);
  await expect(get(here, (_request, response) => response.write("begin"), { timeoutMs: 1000 })).rejects.toThrow(/stopped sending|within 1000 ms/);
  await expect(get(here, (_request, response) => response.writeHead(200, { "content-length": "100" }).write("x", () => response.destroy()))).rejects.toThrow(
    /was interrupted/,
  );
  const limits = { ...LIMITS, archiveBytes: 1000 };
  await expect(get(here, Buffer.alloc(2000), {}, { limits })).rejects.toThrow(/more than/);
  await expect(get(here, (_request, response) => void response.write(Buffer.alloc(2000)), {}, { limits })).rejects.toThrow(/more than/);
  expect(left(here)).toEqual(["tool"]);
});

test("an address of the own network is not asked", async () => {
  const here = skillPlace();
  await expect(get(here, await tgzOf(ENTRIES), {}, { network: undefined })).rejects.toMatchObject({ code: "HOST_BLOCKED" });
});

test("a folder that a process moved aside before it died is put back", () => {
  const here = skillPlace();
  const tools = join(here.home, "tools");
  const stage = join(tools, `.staging-${2 ** 22 + 4321}-abcdef`);
  mkdirSync(join(stage, `old-${encodeURIComponent("tool/bin")}`), { recursive: true });
  mkdirSync(join(tools, "tool"));
  writeFileSync(join(stage, `old-${encodeURIComponent("tool/bin")}`, "tool"), "x");
  recoverDownloads(tools);
  expect(left(here)).toEqual(["tool", "tool/bin", "tool/bin/tool"]);
});

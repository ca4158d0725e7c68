import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createFileVersions, createSeenFiles, hashOfText, type FileVersions } from "./file-versions.ts";

const DAY = 24 * 3_600_000;
const SOUL = { agentId: "main", name: "SOUL.md" };

let folder: string;
let clock = manualClock();
let versions: FileVersions;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "file-versions-"));
  clock = manualClock(Date.parse("2026-11-17T12:00:00Z"));
  versions = createFileVersions({ clock, ids: createIds(seededRandom(1)), log: silentLogger, stateDir: folder });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const home = (name = "SOUL.md"): string => join(folder, "agents", "main", "files", name);
const texts = async (name = "SOUL.md"): Promise<string[]> => {
  const ref = { agentId: "main", name };
  return Promise.all((await versions.list(ref)).map(({ id }) => versions.read(ref, id)));
};

test("each text that a file had is a version, newest first, with who left it; the same text again is none", async () => {
  await versions.note(SOUL, "kind\n", { by: "outside" });
  clock.advance(1000);
  await versions.note(SOUL, "brief\n", { by: "page" });
  await versions.note(SOUL, "brief\n", { by: "outside" });
  clock.advance(1000);
  await versions.note(SOUL, "kind\n", { by: "agent", runId: "5d0c2f7e-1" });
  const listed = await versions.list(SOUL);
  expect(listed.map(({ by, runId, bytes, hash }) => [by, runId, bytes, hash])).toEqual([
    ["agent", "5d0c2f7e-1", 5, hashOfText("kind\n")],
    ["page", undefined, 6, hashOfText("brief\n")],
    ["outside", undefined, 5, hashOfText("kind\n")],
  ]);
  expect(listed.map(({ at }) => at)).toEqual([clock.now(), clock.now() - 1000, clock.now() - 2000]);
  expect(await texts()).toEqual(["kind\n", "brief\n", "kind\n"]);
});

test("versions of the same moment stay in their order, also when they are noted at once", async () => {
  await Promise.all(["one", "two", "three"].map((text) => versions.note(SOUL, text, { by: "page" })));
  expect(await texts()).toEqual(["three", "two", "one"]);
});

test("number, size and age are bounded, and the newest stays whatever they say", async () => {
  for (let at = 0; at < 60; at += 1) {
    clock.advance(1);
    await versions.note(SOUL, `text ${at}`, { by: "page" });
  }
  expect(await texts()).toHaveLength(50);
  expect((await texts())[0]).toBe("text 59");
  clock.advance(91 * DAY);
  await versions.note(SOUL, "after a long time", { by: "page" });
  expect(await texts()).toEqual(["after a long time"]);
  for (const letter of "abcd") await versions.note(SOUL, letter.repeat(1_500_000), { by: "page" });
  expect((await texts()).map((text) => text[0])).toEqual(["d", "c"]);
  await versions.note(SOUL, "x".repeat(2 * 1024 * 1024 + 1), { by: "page" });
  expect((await texts())[0]).toMatch(/^d/);
});

test("what is too old is gone when it is looked for, also when nothing was written since", async () => {
  await versions.note(SOUL, "old", { by: "page" });
  clock.advance(89 * DAY);
  await versions.note(SOUL, "newer", { by: "page" });
  clock.advance(2 * DAY);
  const [newest] = await versions.list(SOUL);
  expect(await texts()).toEqual(["newer"]);
  expect(readdirSync(home())).toEqual([`${newest!.id}.md`]);
});

test("files are for their owner only, and what a killed process left half written is no version and goes", async () => {
  mkdirSync(home(), { recursive: true });
  writeFileSync(join(home(), `0000000000001-${"0".repeat(64)}-page.md.aaaaaa.tmp`), "half");
  clock.advance(3 * 365 * DAY);
  await versions.note(SOUL, "kind", { by: "page" });
  expect(await texts()).toEqual(["kind"]);
  const [name, ...more] = readdirSync(home());
  expect(more).toEqual([]);
  expect(statSync(join(home(), name!)).mode & 0o777).toBe(0o600);
});

test("names that would lead elsewhere have no versions, and none is made for them", async () => {
  for (const ref of [
    { agentId: "../main", name: "SOUL.md" },
    { agentId: "main", name: "../SOUL.md" },
    { agentId: "main", name: ".." },
    { agentId: "", name: "SOUL.md" },
  ]) {
    await versions.note(ref, "x", { by: "page" });
    expect(await versions.list(ref)).toEqual([]);
  }
  expect(readdirSync(folder)).toEqual([]);
  await versions.note(SOUL, "kind", { by: "agent", runId: "../../out" });
  expect((await versions.list(SOUL))[0]).not.toHaveProperty("runId");
  for (const id of ["../../../openclaw", "", `${"9".repeat(13)}-${"0".repeat(64)}-page`, (await versions.list(SOUL))[0]!.id.replace("agent", "page")]) {
    await expect(versions.read(SOUL, id)).rejects.toMatchObject({ code: "NOT_FOUND", message: expect.stringMatching(/there is no version/) });
  }
});

test("a version that cannot be kept refuses nothing", async () => {
  mkdirSync(join(folder, "agents", "main"), { recursive: true });
  writeFileSync(join(folder, "agents", "main", "files"), "a file is in the way");
  await versions.note(SOUL, "kind", { by: "page" });
  expect(await versions.list(SOUL)).toEqual([]);
});

test("versions that contain a text are erased, of that agent only", async () => {
  const memory = { agentId: "main", name: "MEMORY.md" };
  await versions.note(memory, "the door code is 4711\n", { by: "agent" });
  await versions.note(memory, "nothing\n", { by: "agent" });
  await versions.note({ ...memory, agentId: "ops" }, "the door code is 4711\n", { by: "agent" });
  expect(await versions.erase("main", (text) => text.includes("4711"))).toBe(1);
  expect(await texts("MEMORY.md")).toEqual(["nothing\n"]);
  expect(await versions.list({ ...memory, agentId: "ops" })).toHaveLength(1);
  expect(await versions.erase("ghost", () => true)).toBe(0);
});

test("what turns read is noted once for each file that is another", async () => {
  const noted: string[] = [];
  const seen = createSeenFiles({ note: async ({ name }, text, { by, runId }) => void noted.push(`${name} ${text} ${by} ${runId ?? ""}`.trim()) });
  const soul = { name: "SOUL.md", content: "kind", missing: false };
  const tools = { name: "TOOLS.md", missing: true };
  seen.seen("main", [soul, tools], { by: "outside" });
  seen.seen("main", [soul, tools], { by: "outside" });
  seen.seen(
    "main",
    [
      { ...soul, content: "brief" },
      { name: "USER.md", content: "ends", missing: false, rawChars: 9_000_000 },
    ],
    { by: "agent", runId: "r1" },
  );
  seen.seen("ops", [soul], { by: "outside" });
  expect(noted).toEqual(["SOUL.md kind outside", "SOUL.md brief agent r1", "SOUL.md kind outside"]);
  expect(existsSync(home())).toBe(false);
});

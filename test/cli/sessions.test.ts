import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fillLargeState } from "../../bench/growth/large-state.ts";
import { systemClock } from "../../src/base/clock.ts";
import { list as sessions } from "../../src/cli/commands/sessions/list.ts";
import type { Io } from "../../src/cli/io.ts";
import { openStore } from "../../src/store/index.ts";

let folder = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sessions-"));
  await (await openStore({ stateDir: folder, clock: systemClock }))[Symbol.asyncDispose]();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(values: Record<string, unknown>): Promise<readonly string[]> {
  const written: string[] = [];
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder };
  const io = { env, cwd: folder, version: "0", out: (text: string) => void written.push(text), err: () => {}, color: false, interactive: false, columns: 200 };
  await sessions.run({ io: { ...io, now: () => 2_000_000 } as unknown as Io, values, positionals: [], rest: [] } as never);
  return written;
}

test("sessions are written as they are read, all of them and newest first", async () => {
  fillLargeState(join(folder, "openclaw.db"), { sessions: 1100, entries: 0, agents: 3, now: 1_900_000 });
  const pieces = await run({ json: true });
  const { count, sessions: listed } = JSON.parse(pieces.join("")) as { count: number; sessions: { key: string; updatedAt: number }[] };
  expect([count, listed.length, new Set(listed.map(({ key }) => key)).size]).toEqual([1100, 1100, 1100]);
  expect(listed.map(({ updatedAt }) => updatedAt)).toEqual(listed.map(({ updatedAt }) => updatedAt).toSorted((a, b) => b - a));
  expect(pieces.join("")).toBe(`${JSON.stringify(JSON.parse(pieces.join("")), null, 2)}\n`);
  // No piece is as long as the whole: what was written is not held.
  expect(pieces.length).toBeGreaterThan(3);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(80_000);
  const table = (await run({})).join("").trimEnd().split("\n");
  expect(table).toHaveLength(1101);
  expect(new Set(table.map((line) => line.search(/agent:|Key/))).size).toBe(1);
});

test("no sessions is a document and a sentence", async () => {
  expect(JSON.parse((await run({ json: true })).join(""))).toMatchObject({ count: 0, sessions: [] });
  expect((await run({})).join("")).toBe(`No sessions in ${folder}\n`);
  expect((await run({ agent: "nope" })).join("")).toBe(`No sessions of agent "nope" in ${folder}. There is no such agent in the configuration; it has main\n`);
});

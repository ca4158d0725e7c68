import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fingerprint, readHeartbeatFile, readHeartbeatText } from "./heartbeat-file.ts";

let workspace: string;
beforeEach(() => (workspace = mkdtempSync(join(tmpdir(), "heartbeat-file-"))));
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

test.each([
  ["", "empty"],
  ["# Heartbeat\n\n## Tasks\n", "empty"],
  ["- \n* \n- [ ]\n- [x]\n1.\n", "empty"],
  ["<!-- add tasks\n- like this\n-->\n#\n", "empty"],
  ["---\nwhen: changed\n---\n# Nothing\n", "empty"],
  ["- [ ] look at the inbox\n", "filled"],
  ["# Heartbeat\n\nLook at the inbox.\n", "filled"],
  ["#hashtag is no heading\n", "filled"],
  ["\uFEFF- \r\n", "empty"],
])("%j is %s", (text, state) => {
  expect(readHeartbeatText(text).state).toBe(state);
});

test("the file says what it depends on", () => {
  expect(readHeartbeatText("---\nwhen: changed\nwatch:\n  - notes/*.md\n  - 'inbox.txt'\n---\n- look\n").watched).toEqual(["notes/*.md", "inbox.txt"]);
  expect(readHeartbeatText("---\nwhen: changed\nwatch: [a.txt, b.txt]\n---\n- look\n").watched).toEqual(["a.txt", "b.txt"]);
  expect(readHeartbeatText("---\nwhen: changed\n---\n- look\n").watched).toEqual([]);
  expect(readHeartbeatText("- look\n").watched).toBeUndefined();
});

test("a file that is missing, or a folder in its place, asks for nothing", async () => {
  expect(await readHeartbeatFile(workspace)).toEqual({ state: "missing" });
  mkdirSync(join(workspace, "HEARTBEAT.md"));
  expect(await readHeartbeatFile(workspace)).toEqual({ state: "missing" });
});

test("a pipe in its place asks for nothing, and blocks nobody", async () => {
  spawnSync("mkfifo", [join(workspace, "HEARTBEAT.md")]);
  const found = await Promise.all(Array.from({ length: 8 }, () => readHeartbeatFile(workspace)));
  for (const file of found) expect(file).toEqual({ state: "missing" });
});

test("what is watched stands the same until a file in it changes, comes or goes", async () => {
  mkdirSync(join(workspace, "notes"));
  writeFileSync(join(workspace, "HEARTBEAT.md"), "- look\n");
  writeFileSync(join(workspace, "notes", "a.md"), "a");
  const standing = (): Promise<string> => fingerprint(workspace, ["notes/*.md", "../*"]);
  const first = await standing();
  expect(await standing()).toBe(first);
  writeFileSync(join(workspace, "notes", "b.md"), "b");
  const second = await standing();
  expect(second).not.toBe(first);
  utimesSync(join(workspace, "notes", "a.md"), 1, 1);
  expect(await standing()).not.toBe(second);
  expect(second).not.toContain("..");
});

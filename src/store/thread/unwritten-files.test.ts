import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openStore } from "../client/open-store.ts";
import { createStatements } from "../sqlite/connection.ts";
import { migrate } from "../sqlite/migrations.ts";
import { createUnwrittenFiles } from "./unwritten-files.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const storeFolder = fileURLToPath(new URL("..", import.meta.url));
const fileOf = (session: string): string => `agents/main/sessions/${session}.jsonl`;
const path = (session: string): string => join(folder, fileOf(session));
const content = (session: string): string => (existsSync(path(session)) ? readFileSync(path(session), "utf8") : "");

/** A process that writes a first turn to three sessions, waits for their files, writes a second turn to all in one commit, and archives the last. */
const PROGRAM = `
  import { existsSync, readFileSync } from "node:fs";
  const { openStore } = await import(process.argv[1] + "index.ts");
  const { systemClock } = await import(process.argv[1] + "../base/clock.ts");
  const [stateDir, archive] = process.argv.slice(2);
  const store = await openStore({ stateDir, clock: systemClock });
  const file = (s) => "agents/main/sessions/" + s + ".jsonl";
  const turn = (s, n, parentId) => ["transcripts.append", { file: file(s), entries: ["q", "a"].map((who, at) => {
    const id = who + n;
    const parent = at === 0 ? parentId : "q" + n;
    return { id, parentId: parent, type: "message", line: JSON.stringify({ type: "message", id, parentId: parent, message: { role: "user", content: id + s } }) };
  }) }];
  const all = ["s1", "s2", "s3"];
  for (const s of all) {
    await store.commit([["transcripts.ensure", { file: file(s), agentId: "main", sessionId: s, header: JSON.stringify({ type: "session", id: s }) }], turn(s, 1, null)]);
  }
  while (!all.every((s) => existsSync(stateDir + "/" + file(s)) && readFileSync(stateDir + "/" + file(s), "utf8").includes("a1"))) await new Promise(setImmediate);
  await store.commit(archive ? [["transcripts.archive", { file: file("s3"), reason: "reset" }]] : all.map((s) => turn(s, 2, "a1")));
`;

/** Runs it until it dies right after the acknowledgement of its last commit, before any file is written. */
function crash(...args: readonly string[]): void {
  const env = { ...process.env, OPENCLAW_FAILPOINT: "store.group.acknowledged:4" };
  const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM, storeFolder, folder, ...args], { env, encoding: "utf8" });
  expect([signal, stderr]).toEqual(["SIGKILL", ""]);
}

const open = async () => openStore({ stateDir: folder, clock: systemClock });

test("after a kill, starting and stopping completes the files of all sessions, also of those that nobody uses", async () => {
  crash();
  expect(["s1", "s2", "s3"].filter((session) => content(session).includes("a2"))).toEqual([]);
  await (await open())[Symbol.asyncDispose]();
  expect(["s1", "s2", "s3"].filter((session) => content(session).includes(`a2${session}"`))).toEqual(["s1", "s2", "s3"]);
});

test("a running store completes them by itself", async () => {
  crash();
  await using store = await open();
  await expect.poll(() => ["s1", "s2", "s3"].filter((session) => content(session).includes("a2"))).toEqual(["s1", "s2", "s3"]);
  expect(store.health().notices).toEqual([]);
});

test("a turn that another program added to a file that lacked ours follows ours", async () => {
  crash();
  const theirs = ["q", "a"].map((who) =>
    JSON.stringify({ type: "message", id: `${who}9`, parentId: who === "q" ? "a1" : "q9", message: { role: "user", content: "x" } }),
  );
  appendFileSync(path("s2"), `${theirs.join("\n")}\n`);
  await using store = await open();
  const ids = (await store.read("transcripts.path", { file: fileOf("s2") })).map(({ id }) => id);
  expect(ids).toEqual(["q1", "a1", "q2", "a2", "q9", "a9"]);
  const written = content("s2").trim().split("\n").slice(1);
  expect(written.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(ids);
});

test("a transcript that was archived right before a kill is found under its new name only, complete", async () => {
  crash("archive");
  const before = content("s3");
  expect(before).toContain("a1");
  await (await open())[Symbol.asyncDispose]();
  const names = readdirSync(join(folder, "agents/main/sessions")).filter((name) => name.startsWith("s3"));
  expect(names).toEqual([expect.stringMatching(/^s3\.jsonl\.reset\./)]);
  expect(readFileSync(join(folder, "agents/main/sessions", names[0]!), "utf8")).toBe(before);
});

test("a file that could not be written is completed when the store is closed", async () => {
  const store = await open();
  const line = (id: string) => ({ id, type: "message", line: JSON.stringify({ type: "message", id, parentId: null }) });
  await store.write("transcripts.ensure", { file: fileOf("s"), agentId: "main", sessionId: "s", header: '{"type":"session","id":"s"}' });
  await expect.poll(() => content("s")).toContain("session");
  renameSync(path("s"), join(folder, "away"));
  await store.write("transcripts.append", { file: fileOf("s"), entries: [line("e1")] });
  await store[Symbol.asyncDispose]();
  expect(content("s")).toContain("e1");
});

test("marks are removed when their files were not written for a while, and stay while a file is behind", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1);
  for (const [tid, file] of [
    [1, "quiet"],
    [2, "busy"],
    [3, "behind"],
  ] as const) {
    db.prepare("INSERT INTO transcripts (tid, agent_id, session_id, file, next_seq, bytes, created_at) VALUES (?, 'main', ?, ?, 1, 1, 1)").run(tid, file, file);
    db.prepare("INSERT INTO transcript_unwritten VALUES (?)").run(tid);
  }
  db.prepare("INSERT INTO transcript_unwritten VALUES (4)").run();
  const timers: (() => void)[] = [];
  const completed: string[] = [];
  const files = createUnwrittenFiles({
    db,
    sql: createStatements(db),
    later: (_, fn) => timers.push(fn),
    upkeep: (work) => work(),
    complete: (file) => void completed.push(file),
    flush: () => {},
    behind: () => ["behind"],
    now: () => 0,
  });
  const fire = () => timers.splice(0).forEach((fn) => fn());
  const marked = () =>
    db
      .prepare("SELECT tid FROM transcript_unwritten")
      .all()
      .map(({ tid }) => tid);
  fire();
  expect([completed, marked()]).toEqual([
    ["behind", "busy", "quiet"],
    [1, 2, 3, 4],
  ]);
  fire();
  expect(marked()).toEqual([1, 2, 3]);
  files.written("busy");
  fire();
  expect(marked()).toEqual([2, 3]);
  fire();
  expect(marked()).toEqual([3]);
  expect(timers).toHaveLength(1);
  files.completeAll();
  db.close();
  fire();
});

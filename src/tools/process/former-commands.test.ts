import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { identify, isRunning } from "../../base/process-identity.ts";
import { createCommandRecords, type CommandRecord } from "./command-records.ts";
import { endFormerCommands } from "./former-commands.ts";

interface Left {
  readonly folder: string;
  readonly child: ChildProcess;
  readonly ended: Promise<string | null>;
}

/** A command in a group of its own, as a killed gateway leaves it. */
function left(change: (record: CommandRecord) => CommandRecord = (record) => record): Left {
  const folder = join(mkdtempSync(join(tmpdir(), "openclaw-left-")), "commands");
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  const ended = new Promise<string | null>((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  const record: CommandRecord = {
    id: "calm-reef",
    process: identify(child.pid!),
    gateway: { pid: process.pid, startTime: 1 },
    sessionKey: "agent:main:main",
    command: "sleep 600",
    terminal: false,
    announced: true,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${child.pid}.json`), JSON.stringify(change(record)));
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(join(folder, ".."), { recursive: true, force: true });
  });
  return { folder, child, ended };
}

async function clean({ folder }: Pick<Left, "folder">): Promise<{ readonly ended: number; readonly announced: readonly string[] }> {
  const announced: string[] = [];
  const announce = ({ sessionKey, text }: { sessionKey: string; text: string }) => Promise.resolve(announced.push(`${sessionKey}: ${text}`));
  return { ended: await endFormerCommands({ folder, clock: manualClock(), log: silentLogger, announce }), announced };
}

test("a command of a killed gateway is ended, its session notified, and its record gone", async () => {
  const it = left();
  expect(await clean(it)).toEqual({
    ended: 1,
    announced: ["agent:main:main: Exec interrupted (calm-reef, outcome-unknown: the gateway was killed while it ran): sleep 600"],
  });
  expect(await it.ended).toBe("SIGTERM");
  expect(readdirSync(it.folder)).toEqual([]);
  expect(await clean(it)).toEqual({ ended: 0, announced: [] });
});

test.each<[string, (record: CommandRecord) => CommandRecord]>([
  ["started at another time", (record) => ({ ...record, process: { ...record.process, startTime: record.process.startTime! - 1 } })],
  ["belongs to another boot", (record) => ({ ...record, process: { ...record.process, bootId: "another" } })],
  ["has no known start", (record) => ({ ...record, process: { pid: record.process.pid } })],
])("a process that %s is another one and is left alone; the session is notified all the same", async (_name, change) => {
  const it = left(change);
  expect(await clean(it)).toMatchObject({ ended: 0, announced: [expect.stringContaining("Exec interrupted")] });
  expect(isRunning(identify(it.child.pid!))).toBe(true);
  expect(readdirSync(it.folder)).toEqual([]);
});

test("a record of this very process, and a file that is none, do no harm", async () => {
  const it = left((record) => ({ ...record, gateway: identify(process.pid) }));
  writeFileSync(join(it.folder, "1.json"), "{");
  writeFileSync(join(it.folder, "2.json"), JSON.stringify({ process: { pid: 1 } }));
  expect(await clean(it)).toEqual({ ended: 0, announced: [] });
  expect(readdirSync(it.folder)).toEqual([`${it.child.pid}.json`]);
  expect(isRunning(identify(it.child.pid!))).toBe(true);
});

test("a record is there while its command runs, without secrets, and tells whether its session waits for it", () => {
  const it = left();
  const folder = join(it.folder, "new");
  const records = createCommandRecords({ folder, redact: (text) => text.replace("s3cret", "***"), warn: (text) => expect.fail(text) });
  const record = records.add({ id: "warm-oak", pid: it.child.pid!, sessionKey: "s", command: "echo s3cret", terminal: false });
  expect(readdirSync(folder)).toEqual([`${it.child.pid}.json`]);
  record.announce();
  record[Symbol.dispose]();
  expect(readdirSync(folder)).toEqual([]);
});

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openStore } from "../client/open-store.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const storeFolder = fileURLToPath(new URL("..", import.meta.url));

/** A process that accepts messages one after the other and prints which were acknowledged. */
const PROGRAM = `
  import { writeSync } from "node:fs";
  const { openStore } = await import(process.argv[1] + "index.ts");
  const { systemClock } = await import(process.argv[1] + "../base/clock.ts");
  const file = "agents/main/sessions/s.jsonl";
  const store = await openStore({ stateDir: process.argv[2], clock: systemClock });
  await store.write("transcripts.ensure", { file, agentId: "main", sessionId: "s", header: '{"type":"session","id":"s"}' });
  for (let n = 0; n < 1000; n += 1) {
    await store.commit([
      ["inbox.accept", { channel: "c", account: "a", conversation: "v", messageId: "m" + n, kind: "message", text: "t" }],
      ["transcripts.append", { file, entries: [{ id: "e" + n, type: "message", line: '{"type":"message","id":"e' + n + '"}' }] }],
    ]);
    writeSync(1, n + "\\n");
  }
`;

function runUntilKilled(failpoint: string): Promise<{ readonly acknowledged: number[]; readonly signal: string | null; readonly complaint: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM, storeFolder, folder], {
    env: { ...process.env, OPENCLAW_FAILPOINT: failpoint },
  });
  let out = "";
  let complaint = "";
  child.stdout.on("data", (chunk) => (out += String(chunk)));
  child.stderr.on("data", (chunk) => (complaint += String(chunk)));
  return new Promise((resolve) => {
    child.on("close", (_, signal) => resolve({ acknowledged: out.split("\n").filter(Boolean).map(Number), signal, complaint }));
  });
}

test.each([
  ["store.group.begun", 0],
  ["store.group.applied", 0],
  ["store.group.committed", 1],
  ["store.group.acknowledged", 1],
])("killed at %s, everything that was acknowledged is there and nothing is half there", async (failpoint, unseen) => {
  const { acknowledged, signal, complaint } = await runUntilKilled(`${failpoint}:12`);
  expect([signal, complaint]).toEqual(["SIGKILL", ""]);
  expect(acknowledged.length).toBeGreaterThanOrEqual(9);

  const store = await openStore({ stateDir: folder, clock: systemClock });
  try {
    const ids = (await store.read("inbox.open", {})).map((row) => Number(row.messageId.slice(1)));
    const entries = (await store.read("transcripts.tail", { file: "agents/main/sessions/s.jsonl", limit: 1000 })).map((row) => Number(row.id!.slice(1)));
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, n) => n));
    expect(entries).toEqual(ids);
    expect(ids.length - acknowledged.length).toBeGreaterThanOrEqual(0);
    expect(ids.length - acknowledged.length).toBeLessThanOrEqual(unseen);
  } finally {
    await store[Symbol.asyncDispose]();
  }
});

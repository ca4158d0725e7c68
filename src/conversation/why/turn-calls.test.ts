import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createRedactor } from "../../base/redaction.ts";
import { openStore, transcriptFile, type EntryInput, type Store } from "../../store/index.ts";
import { createWhy } from "./create-why.ts";
import type { Story } from "./story.ts";

const T = 1_700_000_000_000;
const KEY = "agent:main:main";
const FILE = transcriptFile("main", "s1");

const line = (id: string, parentId: string | null, at: number, message: object): EntryInput => ({
  id,
  parentId,
  type: "message",
  at,
  line: JSON.stringify({ type: "message", id, parentId, timestamp: new Date(at).toISOString(), message }),
});
const call = (command: string): object => ({ role: "assistant", content: [{ type: "toolCall", id: "call_1", name: "exec", arguments: { command } }] });
const result = (text: string, exitCode: number): object => ({
  role: "toolResult",
  toolCallId: "call_1",
  content: [{ type: "text", text }],
  details: { exitCode },
});

async function turn(store: Store, clock: ReturnType<typeof manualClock>, id: string, parent: string | null, command: string): Promise<void> {
  await store.write("turns.start", { id, sessionKey: KEY, agentId: "main" });
  clock.advance(5000);
  const at = clock.now();
  const said = [line(`${id}a`, parent, at, call(command)), line(`${id}r`, `${id}a`, at, result(`ran ${command}`, 3))];
  await store.commit([
    ["transcripts.append", { file: FILE, entries: said }],
    ["journal.append", { turnId: id, kind: "tool.intent", callId: "call_1", data: { name: "exec" } }],
    ["journal.append", { turnId: id, kind: "tool.result", callId: "call_1", data: { isError: false } }],
    ["turns.end", { id, outcome: "answered" }],
  ]);
  clock.advance(5000);
}

const toolOf = ([story]: readonly Story[]): unknown => story!.steps.find(({ kind }) => kind === "tool");

test("each turn has its own calls, though their ids are the same, and of many stories none is read that closely", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "why-calls-"));
  try {
    const clock = manualClock(T);
    await using store = await openStore({ stateDir, clock });
    await store.commit([
      ["sessions.put", { key: KEY, agentId: "main", entry: { sessionId: "s1", updatedAt: T }, version: 0 }],
      ["transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: JSON.stringify({ type: "session", version: 3, id: "s1" }) }],
    ]);
    for (let at = 0; at < 9; at += 1) await turn(store, clock, `t${at}`, at === 0 ? null : `t${at - 1}r`, `echo hunter2-hunter2 ${at}`);
    const redactor = createRedactor();
    redactor.register("hunter2-hunter2");
    const why = createWhy({ store, now: clock.now, redactor });
    for (const at of [0, 4, 8]) {
      expect(toolOf(await why.tell(`t${at}`, { closely: true }))).toMatchObject({
        text: "exec: done with exit code 3",
        details: {
          asked: { line: `echo *** ${at}`, arguments: { command: `echo *** ${at}` } },
          gave: { text: `ran echo *** ${at}`, exitCode: 3, cut: false, seq: 2 + at * 2 },
        },
      });
    }
    expect(toolOf(await why.tell("t4"))).toMatchObject({ text: "exec: done", details: { name: "exec", callId: "call_1", isError: false } });
    // An archived result is shown, but cannot be requested by its position.
    await store.write("transcripts.archive", { file: FILE, reason: "reset" });
    const old = toolOf(await why.tell("t4", { closely: true })) as { readonly details: { readonly gave: object } };
    expect(old.details.gave).toMatchObject({ text: "ran echo *** 4" });
    expect(old.details.gave).not.toHaveProperty("seq");
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
});

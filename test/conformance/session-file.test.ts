import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { seededRandom } from "../../src/base/random.ts";
import {
  branchSummaryEntry,
  cacheTouchEntry,
  compactionEntry,
  customMessageEntry,
  gatewayMessageEntry,
  headerLine,
  labelEntry,
  messageEntry,
  modelChangeEntry,
  modelSnapshotEntry,
  promptErrorEntry,
  sessionInfoEntry,
  thinkingLevelEntry,
  view,
  ZERO_USAGE,
  type EntryPosition,
  type NewEntry,
} from "../../src/sessions/index.ts";
import { openStore, transcriptFile, type Store } from "../../src/store/index.ts";
import { contextOf, readSessionFile, spoken, type Line } from "./independent-reader.ts";

const clock = manualClock(1_772_000_000_000);
const ids = createIds(seededRandom(3));
const FILE = transcriptFile("main", "s1");
let folder: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "session-file-"));
  store = await openStore({ stateDir: folder, clock });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const answer = { api: "x", provider: "p", model: "m", usage: ZERO_USAGE, timestamp: 1 } as const;

/** One entry of each kind, one below the other. */
function conversation(): readonly NewEntry[] {
  const made: NewEntry[] = [];
  const add = (build: (place: EntryPosition) => NewEntry): NewEntry => {
    clock.advance(1000);
    const entry = build({ ids, parentId: made.at(-1)?.id ?? null, at: clock.now() });
    made.push(entry);
    return entry;
  };
  add((place) => modelChangeEntry(place, "p", "m"));
  add((place) => thinkingLevelEntry(place, "low"));
  add((place) => modelSnapshotEntry(place, { provider: "p", api: "x", id: "m" }));
  add((place) => messageEntry(place, { role: "user", content: "old", timestamp: 1 }));
  add((place) => messageEntry(place, { role: "assistant", content: [{ type: "text", text: "old answer" }], stopReason: "stop", ...answer }));
  const kept = add((place) => messageEntry(place, { role: "user", content: [{ type: "text", text: "read it" }], timestamp: 1 }));
  add((place) =>
    messageEntry(place, {
      role: "assistant",
      content: [{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } }],
      stopReason: "toolUse",
      ...answer,
    }),
  );
  add((place) =>
    messageEntry(place, {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content: [{ type: "text", text: "A" }],
      details: { n: 1 },
      isError: false,
      timestamp: 1,
    }),
  );
  add((place) => compactionEntry(place, { summary: "S", firstKeptEntryId: kept.id, tokensBefore: 10, details: { readFiles: ["a"], modifiedFiles: [] } }));
  add((place) => cacheTouchEntry(place, { provider: "p", id: "m" }));
  add((place) => customMessageEntry(place, { customType: "note", content: "a note", display: false }));
  add((place) => branchSummaryEntry(place, { fromId: kept.id, summary: "B" }));
  add((place) => labelEntry(place, kept.id, "here"));
  add((place) => sessionInfoEntry(place, "a name"));
  add((place) => promptErrorEntry(place, { runId: "r", sessionId: "s1", provider: "p", model: "m", api: "x", error: "refused" }));
  add((place) => gatewayMessageEntry(place, "gateway-injected", "by hand", { label: "note" }));
  return made;
}

test("a reader written from the format alone sees in the file what the model sees", async () => {
  const entries = conversation();
  await store.commit([
    ["transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: headerLine({ sessionId: "s1", at: clock.now(), cwd: "/w" }) }],
    ["transcripts.append", { file: FILE, entries }],
  ]);
  await store[Symbol.asyncDispose]();
  const file = readSessionFile(join(folder, FILE));
  const { header, lines } = file;
  const context = contextOf(file).flatMap(spoken);
  expect(header).toEqual({ type: "session", version: 3, id: "s1", timestamp: new Date(clock.now()).toISOString(), cwd: "/w" });
  expect(lines).toHaveLength(entries.length);
  for (const [at, line] of lines.entries()) {
    expect(line.id).toMatch(/^[0-9a-f]{8}$/);
    expect(line.parentId).toBe(lines[at - 1]?.id ?? null);
    expect(new Date(line.timestamp).toISOString()).toBe(line.timestamp);
  }
  expect(context).toEqual([
    "summary: S",
    "user: read it",
    'call c1: read {"path":"a"}',
    "result of c1: A",
    "user: a note",
    "summary: B",
    "assistant: [note]\n\nby hand",
  ]);

  const { messages } = view({ entries: lines, model: { provider: "p", id: "m", contextWindow: 100_000 }, now: clock.now() });
  const seen = messages.flatMap((message) =>
    spoken({ type: "message", message } as unknown as Line).map((words) => {
      const summary = /<summary>\n(.*)\n<\/summary>/.exec(words)?.[1];
      return summary === undefined ? words : `summary: ${summary}`;
    }),
  );
  expect(seen).toEqual(context);
});

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
  type EntryPlace,
  type NewEntry,
} from "../../src/sessions/index.ts";
import { openStore, transcriptFile, type Store } from "../../src/store/index.ts";

/** A reader of format 3 that shares nothing with the product: one JSON object a line, a header first, a tree by parentId, the last line is the leaf. */
interface Line {
  type: string;
  id: string;
  parentId: string | null;
  timestamp: string;
  message?: { role: string; content: string | { type: string; text?: string; id?: string }[]; toolCallId?: string };
  summary?: string;
  firstKeptEntryId?: string;
  content?: string;
}

function readSessionFile(path: string): { header: Record<string, unknown>; lines: Line[]; context: string[] } {
  const [first, ...rest] = readFileSync(path, "utf8").trimEnd().split("\n");
  const header = JSON.parse(first!) as Record<string, unknown>;
  const lines = rest.map((line) => JSON.parse(line) as Line);
  const byId = new Map(lines.map((line) => [line.id, line]));
  const branch: Line[] = [];
  for (let line: Line | undefined = lines.at(-1); line; line = line.parentId === null ? undefined : byId.get(line.parentId)) branch.unshift(line);
  const cut = branch.findLastIndex((line) => line.type === "compaction");
  const kept =
    cut < 0
      ? branch
      : [
          branch[cut]!,
          ...branch.slice(
            branch.findIndex((line) => line.id === branch[cut]!.firstKeptEntryId),
            cut,
          ),
          ...branch.slice(cut + 1),
        ];
  return { header, lines, context: kept.flatMap(plain) };
}

function plain(line: Line): string[] {
  if (line.type === "compaction" || line.type === "branch_summary") return [`summary: ${line.summary}`];
  if (line.type === "custom_message") return [`user: ${line.content}`];
  if (line.type !== "message") return [];
  const { role, content } = line.message!;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks.map((block) => (block.type === "toolCall" ? `call: ${block.id}` : `${role}: ${block.text}`));
}

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
  const add = (build: (place: EntryPlace) => NewEntry): NewEntry => {
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
  const { header, lines, context } = readSessionFile(join(folder, FILE));
  expect(header).toEqual({ type: "session", version: 3, id: "s1", timestamp: new Date(clock.now()).toISOString(), cwd: "/w" });
  expect(lines).toHaveLength(entries.length);
  for (const [at, line] of lines.entries()) {
    expect(line.id).toMatch(/^[0-9a-f]{8}$/);
    expect(line.parentId).toBe(lines[at - 1]?.id ?? null);
    expect(new Date(line.timestamp).toISOString()).toBe(line.timestamp);
  }
  expect(context).toEqual(["summary: S", "user: read it", "call: c1", "toolResult: A", "user: a note", "summary: B", "assistant: [note]\n\nby hand"]);

  const { messages } = view({ entries: lines, model: { provider: "p", id: "m", contextWindow: 100_000 }, now: clock.now() });
  const seen = messages.flatMap(({ role, content }) =>
    (content as { type: string; text?: string; id?: string }[]).map(({ type, text = "", id }) => {
      const summary = /<summary>\n(.*)\n<\/summary>/.exec(text)?.[1];
      return summary !== undefined ? `summary: ${summary}` : type === "toolCall" ? `call: ${id}` : `${role}: ${text}`;
    }),
  );
  expect(seen).toEqual(context);
});

import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import { compactionEntry, entryOfRow, messageEntry, pathItem, readTranscript, view, type NewEntry, type PathItem, ZERO_USAGE } from "../../sessions/index.ts";
import { compact, compactionDue, compactionSettings, type Ask } from "./index.ts";

const WINDOW = 16_000;
const MODEL = { provider: "test", id: "m", contextWindow: WINDOW };
const TURNS = 500;
const PENDING = ["approval a7 waits: exec npm publish"];
const FACTS: Readonly<Record<number, string>> = {
  3: "Always answer in metric units.",
  40: "Never touch the folder /srv/archive-7f3a.",
  41: "Remember that my sister is called Zofia.",
  250: "From now on sign with J.",
};

/** What every provider insists on. */
function expectPaired(messages: readonly ModelMessage[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") expect(message.toolCallId).toBe(open.shift());
    else expect(open).toEqual([]);
    if (message.role === "assistant") open = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
  }
  expect(open).toEqual([]);
}

/** A model whose summaries contain nothing of the conversation. */
const forgetful: Ask = async () => ({ ok: true, text: "## Goal\n- something\n\n## Progress\n### Done\n- [x] things\n\n## Next Steps\n1. more" });
/** Answers every other question, with every kind of trouble in between. */
function moody(): Ask {
  let questions = 0;
  return async () => {
    questions += 1;
    if (questions % 4 === 1) return { ok: true, text: "" };
    if (questions % 4 === 3) return { ok: false, kind: "overloaded", text: "529" };
    return { ok: true, text: `## Goal\n- something\n\n## Progress\n- ok\n\n## Next Steps\n${"- more\n".repeat(questions % 8 === 2 ? 9_000 : 3)}` };
  };
}

test.each<readonly [string, Ask | undefined]>([
  ["a model that forgets everything", forgetful],
  ["a model that often fails", moody()],
  ["no model", undefined],
])("2,000 messages under a window of 16,000 tokens with %s: calls keep their results and what is pinned stays", async (_, ask) => {
  const random = seededRandom(5);
  const ids = createIds(random);
  const clock = manualClock();
  const settings = compactionSettings();
  const lines: string[] = [];
  let path: PathItem[] = [];
  let leafId: string | null = null;
  let messages = 0;
  let compactions = 0;
  const append = (make: (place: { ids: typeof ids; parentId: string | null; at: number }) => NewEntry): void => {
    clock.advance(1_000);
    const entry = make({ ids, parentId: leafId, at: clock.now() });
    lines.push(entry.line);
    leafId = entry.id;
    path = [...path, pathItem(entryOfRow(entry)!)];
  };
  const say = (message: ModelMessage): void => {
    messages += 1;
    append((place) => messageEntry(place, message));
  };
  const words = (most: number): string => "word ".repeat(1 + Math.floor(random.float() * most));
  const answer = (content: Extract<ModelMessage, { role: "assistant" }>["content"]): void =>
    say({ role: "assistant", content, api: "test", provider: "test", model: "m", usage: ZERO_USAGE, stopReason: "stop", timestamp: clock.now() });

  for (let turn = 0; turn < TURNS; turn += 1) {
    say({ role: "user", content: `Turn ${turn}: ${FACTS[turn] ?? ""} ${words(80)}`, timestamp: clock.now() });
    answer([{ type: "toolCall", id: `call_${turn}`, name: turn % 3 === 0 ? "write" : "read", arguments: { path: `notes/${turn % 30}.md` } }]);
    const text = random.float() < 0.05 ? words(4_000) : words(150);
    say({ role: "toolResult", toolCallId: `call_${turn}`, toolName: "read", content: [{ type: "text", text }], isError: false, timestamp: clock.now() });
    answer([{ type: "text", text: `Done ${turn}. ${words(60)}` }]);
    const seen = view({ path, model: MODEL, now: clock.now() });
    if (compactionDue({ size: seen.size, window: WINDOW, settings })) {
      const done = await compact({ path, window: WINDOW, settings, reason: "threshold", ask, pending: PENDING, clock });
      if (done.kind !== "compacted") throw new Error(done.why);
      compactions += 1;
      append((place) => compactionEntry(place, done.entry));
      path = path.slice(path.findIndex(({ entry }) => entry.id === done.entry.firstKeptEntryId));
      const after = view({ path, model: MODEL, now: clock.now() });
      expect(after.estimate).toBe(done.tokensAfter);
      expect(after.fits).toBe(true);
      expect(compactionDue({ size: after.size, window: WINDOW, settings })).toBe(false);
      expect(JSON.stringify(after.messages[0])).toContain(PENDING[0]);
    }
    const now = view({ path, model: MODEL, now: clock.now() });
    expectPaired(now.messages);
    expect([now.dropped.results, now.dropped.unanswered]).toEqual([0, 0]);
    const sent = JSON.stringify(now.messages);
    for (const [since, fact] of Object.entries(FACTS)) if (Number(since) <= turn) expect(sent, `turn ${turn}`).toContain(fact);
  }

  expect(messages).toBe(2_000);
  expect(compactions).toBeGreaterThan(10);
  // The file holds all that was ever said, and read from the beginning it gives the same view.
  const { entries, unreadable } = readTranscript(lines.join("\n"));
  expect([entries.length, unreadable]).toEqual([2_000 + compactions, 0]);
  expect(view({ entries, model: MODEL, now: 0 }).messages).toEqual(view({ path, model: MODEL, now: 0 }).messages);
});

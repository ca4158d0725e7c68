/** How well memory finds single messages in conversations that its ranker never saw, through the command that anyone can run on their own. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { openStore, transcriptFile, type Write } from "../../src/store/index.ts";
import { plainSearch, recall } from "../../scripts/memory/evaluate.ts";
import { createPool, readConversations, readQuestions, type Conversation } from "../../scripts/memory/pool.ts";
import { makePlace } from "../harness/gateway-process.ts";

const FOLDER = fileURLToPath(new URL("../fixtures/memory/heldout/", import.meta.url));
const conversations = readConversations(join(FOLDER, "conversations.jsonl"));
const questions = readQuestions(join(FOLDER, "questions.jsonl"));

/** A conversation as a session with its transcript. In groups the sender stands before the text, as a channel writes it. */
function writesOf({ sessionId, messages }: Conversation): readonly Write[] {
  const file = transcriptFile("main", sessionId);
  const isGroup = messages.some(({ speaker }) => speaker !== undefined);
  const entries = messages.map(({ id, role, speaker, at, text }, n) => {
    const parentId = messages[n - 1]?.id ?? null;
    const content = [{ type: "text", text: speaker === undefined ? text : `${speaker}: ${text}` }];
    return { id, parentId, type: "message", line: JSON.stringify({ type: "message", id, parentId, timestamp: at, message: { role, content } }) };
  });
  const header = JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: messages[0]?.at });
  return [
    [
      "sessions.put",
      { key: `agent:main:telegram:${isGroup ? "group" : "direct"}:${sessionId}`, agentId: "main", entry: { sessionId, updatedAt: 1 }, version: 0 },
    ],
    ["transcripts.ensure", { file, agentId: "main", sessionId, header }],
    ["transcripts.append", { file, entries }],
  ];
}

test("memory eval closes at least half of the gap between plain FTS5 and finding everything", { timeout: 240_000 }, async () => {
  using pool = createPool(conversations);
  const plain = recall(questions, plainSearch(conversations, questions, pool), pool, 10);
  expect(plain, "the set is neither too easy nor too hard").toBeGreaterThan(0.5);
  expect(plain).toBeLessThan(0.7);

  const place = makePlace();
  place.configure("{}");
  {
    await using store = await openStore({ stateDir: place.stateDir, clock: systemClock });
    for (const conversation of conversations) await store.commit(writesOf(conversation));
  }
  const file = join(place.home, "questions.jsonl");
  writeFileSync(file, readFileSync(join(FOLDER, "questions.jsonl")));
  const { code, stdout, stderr } = await place.start("memory", "eval", file, "--json");
  expect(code, stderr).toBe(0);
  const report = JSON.parse(stdout) as { readonly n: number; readonly recall: Readonly<Record<"5" | "10", number>> };
  expect(report.n).toBe(questions.length);
  expect(report.recall["10"]).toBeGreaterThanOrEqual(plain + (1 - plain) / 2);
});

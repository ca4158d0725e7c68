import { expect, test } from "vitest";
import type { Write } from "./areas/index.ts";
import { createChangeCounter, type ChangeCounts } from "./change-counts.ts";

const FILE = "agents/main/sessions/s.jsonl";

/** Which of the two counts a write changes, for the session `k`. */
function changedBy(...writes: readonly Write[]): readonly (keyof ChangeCounts)[] {
  const counter = createChangeCounter();
  const before = counter.of("k", FILE);
  counter.count(writes);
  const after = counter.of("k", FILE);
  return (["changes", "injections"] as const).filter((name) => before[name] !== after[name]);
}

test.each<{ what: string; write: Write; changes: readonly string[] }>([
  { what: "its entry", write: ["sessions.merge", { key: "k", patch: {} }], changes: ["changes"] },
  { what: "its end", write: ["sessions.delete", { key: "k" }], changes: ["changes"] },
  { what: "a line of its transcript", write: ["transcripts.append", { file: FILE, entries: [] }], changes: ["changes"] },
  { what: "another leaf", write: ["transcripts.branch", { file: FILE, leafId: null }], changes: ["changes"] },
  { what: "its transcript put away", write: ["transcripts.archive", { file: FILE, reason: "reset" }], changes: ["changes"] },
  { what: "a rename of any session", write: ["sessions.rename", { from: "a", to: "b" }], changes: ["changes", "injections"] },
  {
    what: "something for its next turn",
    write: ["injections.add", { id: "i", sessionKey: "k", pluginId: "p", placement: "x", text: "t" }],
    changes: ["injections"],
  },
  { what: "an assertion about it", write: ["sessions.expect", { key: "k", version: 1 }], changes: [] },
  { what: "what waited being taken", write: ["injections.drain", { sessionKey: "k", turnId: "t" }], changes: [] },
  { what: "another session", write: ["sessions.merge", { key: "other", patch: {} }], changes: [] },
  { what: "another transcript", write: ["transcripts.append", { file: "other", entries: [] }], changes: [] },
  { what: "something for another session", write: ["injections.add", { id: "i", sessionKey: "o", pluginId: "p", placement: "x", text: "t" }], changes: [] },
  { what: "a message in the inbox", write: ["inbox.claim", { ids: [1], turnId: "t" }], changes: [] },
])("$what is counted as far as it changes the session", ({ write, changes }) => {
  expect(changedBy(write)).toEqual(changes);
});

test("each change counts one; what was forgotten for want of room never looks unchanged", () => {
  const counter = createChangeCounter();
  counter.count([["sessions.merge", { key: "k", patch: {} }]]);
  const before = counter.of("k", FILE);
  counter.count([
    ["sessions.merge", { key: "k", patch: {} }],
    ["transcripts.append", { file: FILE, entries: [] }],
  ]);
  expect(counter.of("k", FILE)).toEqual({ ...before, changes: before.changes + 2 });
  const then = counter.of("k", FILE);
  for (let n = 0; n < 20_000; n += 1) counter.count([["sessions.merge", { key: `k${n}`, patch: {} }]]);
  expect(counter.of("k", FILE).changes).toBeGreaterThan(then.changes);
  expect(counter.of("k", FILE).injections).toBeGreaterThan(then.injections);
});

import { expect, test } from "vitest";
import { messageSearchHandlers } from "../../src/gateway/methods/memory.ts";
import type { MethodParams, MethodResult } from "../../src/protocol/index.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { memoryFixture, type MemoryFixture } from "./memory-fixture.ts";

const KEY = "agent:main:web:one";
const answer = (text: string) => ({
  message: { role: "assistant", content: [{ type: "text", text }], provider: "p", model: "m", usage: {}, stopReason: "stop" },
});

type Found = MethodResult<"chat.search">;

function searching({ config, store, memory }: MemoryFixture): (params: MethodParams<"chat.search">) => Promise<Found> {
  const handler = messageSearchHandlers({ config, store, memory: { memory } })["chat.search"]!;
  return async (params) => handler(params, undefined as never);
}

/** The words that are marked. */
const marked = ({ results }: Found) => results.map(({ text, marks }) => marks.map(({ from, to }) => text.slice(from, to)));

test("messages with all words are found, newest first, with the words marked and where they stand", async () => {
  const at = await memoryFixture({ config: {}, notes: { "MEMORY.md": "the boat is in the harbour" } });
  const search = searching(at);
  await seedSession(
    at.store,
    [line("a", null, said("Where did we leave the old boat?"), 1), line("b", "a", answer("The boats lie in the Hafen of Kiel."), 2)],
    KEY,
    "s1",
  );
  await seedSession(at.store, [line("c", null, said(`${"far ".repeat(100)} a boat again ${"away ".repeat(100)}`), 60_000)], "agent:main:web:two", "s2");
  const found = await search({ query: "boat" });
  expect(found.results).toMatchObject([
    { sessionKey: "agent:main:web:two", entryId: "c", seq: 1, role: "user" },
    { sessionKey: KEY, entryId: "b", seq: 2, role: "assistant", name: expect.stringContaining("Where did we leave") },
    { sessionKey: KEY, entryId: "a", seq: 1, sessionId: "s1", agentId: "main" },
  ]);
  expect(marked(found)).toEqual([["boat"], ["boats"], ["boat"]]);
  expect(found.results[0]!.text.length).toBeLessThan(250);
  // The beginning of a word is enough at the end, and every word counts.
  expect(marked(await search({ query: "boat haf" }))).toEqual([["boats", "Hafen"]]);
  expect((await search({ query: "boat Lübeck" })).results).toEqual([]);
  expect((await search({ query: "boat", sessionKey: KEY })).results.map(({ entryId }) => entryId)).toEqual(["b", "a"]);
  await expect(search({ query: "  " })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(search({ query: "boat", cursor: "nobody:1" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("results come in pages, without gaps or repeats", async () => {
  const at = await memoryFixture({ config: {} });
  const search = searching(at);
  for (let n = 0; n < 5; n += 1) {
    const lines = Array.from({ length: 30 }, (_, seq) =>
      line(`${n}-${seq}`, seq === 0 ? null : `${n}-${seq - 1}`, said(`word number ${seq}`), n * 60_000 + seq),
    );
    await seedSession(at.store, lines, `agent:main:web:n${n}`, `s${n}`);
  }
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page: Found = await search({ query: "word", limit: 40, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...page.results.map(({ entryId }) => entryId));
    cursor = page.next;
  } while (cursor !== undefined);
  expect(ids).toHaveLength(150);
  expect(new Set(ids).size).toBe(150);
  expect(ids[0]).toBe("4-29");
});

test("only the branch in use is found, and nothing that was reset or deleted", async () => {
  const at = await memoryFixture({ config: {} });
  const search = searching(at);
  const file = await seedSession(at.store, [line("a", null, said("start"), 1), line("b", "a", said("the lighthouse"), 2)], KEY, "s1");
  expect((await search({ query: "lighthouse" })).results).toHaveLength(1);
  await at.store.write("transcripts.append", {
    file,
    entries: [line("m", "a", { type: "custom", customType: "openclaw:branch" }), line("c", "m", said("the tower"), 3)],
  });
  expect((await search({ query: "lighthouse" })).results).toEqual([]);
  expect((await search({ query: "tower" })).results).toMatchObject([{ entryId: "c", seq: 4 }]);
  await at.store.write("transcripts.append", { file, entries: [line("n", "b", { type: "custom", customType: "openclaw:branch" })] });
  expect((await search({ query: "lighthouse" })).results).toHaveLength(1);
  const deleted = await at.store.write("transcripts.archive", { file, reason: "deleted" });
  expect((await search({ query: "lighthouse" })).results).toEqual([]);
  await at.store.write("transcripts.restore", deleted);
  expect((await search({ query: "lighthouse" })).results).toHaveLength(1);
});

test("where the configuration keeps sessions out of the index, the answer says so", async () => {
  const at = await memoryFixture({ config: { agents: { defaults: { memorySearch: { sources: ["memory"] } } } } });
  expect(await searching(at)({ query: "x" })).toEqual({ results: [], indexing: false, off: true });
});

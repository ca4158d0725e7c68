import { describe, expect, it } from "vitest";
import { createConversation } from "./model/conversation.ts";
import { fakeGateway, memoryStorage, said, settled, testPlatform } from "./model/gateway.fixture.ts";
import { itemsOf } from "./model/items.ts";
import { createOutbox } from "./model/outbox.ts";
import { MOST_SHOWN } from "./transcript-window.ts";
import { NO_WORK } from "./model/items.ts";
import { findRun, rowOfRun, windowAround } from "./transcript-wanted.ts";

const never = new AbortController().signal;

function talk(length: number) {
  const gateway = fakeGateway(Array.from({ length }, (_, at) => said("user", `m${at + 1}`, { runId: `run-${at + 1}` })));
  const outbox = createOutbox({ storage: memoryStorage(), events: new EventTarget() });
  const conversation = createConversation({ link: gateway.link("tab"), sessionKey: "agent:main:main", outbox, platform: testPlatform("tab") });
  return conversation;
}

describe("a run that the address names", () => {
  it("is found among the newest entries without reading more", async () => {
    const conversation = talk(500);
    const found = findRun(conversation, "run-490", never);
    conversation.open();
    expect(await found).toBe(true);
    expect(conversation.state.value.entries[0]?.seq).toBe(441);
  });

  it("is read for page by page, and the row that it begins with is known", async () => {
    const conversation = talk(500);
    conversation.open();
    expect(await findRun(conversation, "run-100", never)).toBe(true);
    const { value } = conversation.state;
    const items = itemsOf(value.entries);
    const row = rowOfRun(items, value, "run-100");
    expect(items[row!.at]).toMatchObject({ key: row!.key, kind: "user", text: "m100" });
  });

  it("is found by an entry, too: its own row, or that of the call which it is the result of", async () => {
    const conversation = talk(100);
    conversation.open();
    await settled();
    const [entry] = conversation.state.value.entries;
    const held = { ...conversation.state.value, entries: [{ ...entry!, id: "e1" }] };
    expect(rowOfRun(itemsOf(held.entries), held, "e1")).toMatchObject({ key: itemsOf(held.entries).at(-1)!.key });
    const call = { id: "c1", name: "read", args: {}, startedAt: 1, result: { ...entry!, id: "e2", kind: "tool" as const } };
    const answer = { kind: "answer" as const, work: NO_WORK, key: "k", entry: { ...entry!, id: "e3" }, text: "", thinking: "", calls: [call] };
    expect(rowOfRun([answer], held, "e2")).toEqual({ key: "k", at: 0 });
  });

  it("is looked for in a bounded number of pages, and not when nothing is left or nobody waits", async () => {
    const far = talk(9000);
    far.open();
    expect(await findRun(far, "run-1", never)).toBe(false);
    expect(far.state.value.entries[0]?.seq).toBe(9000 - 59 - 20 * 200);
    const short = talk(100);
    short.open();
    expect(await findRun(short, "nobody's", never)).toBe(false);
    expect(short.state.value.moreBefore).toBe(false);
    const left = talk(500);
    left.open();
    expect(await findRun(left, "run-1", AbortSignal.abort())).toBe(false);
    await settled();
    expect(left.state.value.entries).toHaveLength(60);
  });

  it("stands behind the transcript while it waits or goes on", () => {
    const run = { runId: "r1" } as never;
    expect(rowOfRun([], { pending: [run], runs: [run] }, "r1")).toEqual({ key: "pr1", at: 0 });
    expect(rowOfRun([], { pending: [], runs: [run] }, "r1")).toEqual({ key: "rr1", at: 0 });
    expect(rowOfRun([], { pending: [], runs: [] }, "r1")).toBeUndefined();
  });

  it("is put on the page with what is before and after it", () => {
    expect(windowAround(500, 1000)).toEqual({ from: 400, to: 600 });
    expect(windowAround(10, 1000)).toEqual({ from: 0, to: MOST_SHOWN });
    expect(windowAround(990, 1000)).toEqual({ from: 800, to: 1000 });
    expect(windowAround(3, 5)).toEqual({ from: 0, to: 5 });
  });
});

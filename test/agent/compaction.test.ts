import { expect, onTestFinished, test } from "vitest";
import type { TurnEnd } from "../../src/agent/index.ts";
import { OVERFLOW_TEXT } from "../../src/agent/compaction/index.ts";
import type { CallRequest } from "../../src/models/index.ts";
import type { ImageContent, Usage } from "../../src/protocol/index.ts";
import { textOutcome, type Tool } from "../../src/tools/index.ts";
import { KEY, openAgentFixture, said, USAGE, type AgentFixture, type AgentFixtureOptions, type Says } from "../harness/agent-fixture.ts";

const WINDOW = 20_000;
const SUMMARY = "## Goal\nTo paint the house.\n\n## Progress\nThe walls are done.\n\n## Next Steps\nThe roof.";

async function openFixture(options: AgentFixtureOptions): Promise<AgentFixture> {
  const opened = await openAgentFixture({ contextWindow: WINDOW, ...options });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

const used = (input: number): Usage => ({ ...USAGE, input, cacheRead: 0, cacheWrite: 0, totalTokens: input + 10 });
const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n}`).join(" ");

/** Answers a turn, and a summary whenever it is asked for one. */
const talking =
  (text: string, usage?: Usage) =>
  (request: { readonly systemPrompt?: string; readonly tools?: readonly unknown[] }): Says =>
    request.tools === undefined ? SUMMARY : { text, ...(usage ? { usage } : {}) };

const isSummary = (request: { readonly tools?: unknown }): boolean => request.tools === undefined;

test("a conversation that nears the window is summed up before the model is asked, and nothing of the transcript is rewritten", async () => {
  const at = await openFixture({ says: Array.from({ length: 12 }, (_, n) => talking(`answer ${n} ${words(400)}`, used(2_000 + n * 3_000))) });
  const before: string[][] = [];
  for (let n = 0; n < 6; n += 1) {
    await at.turn(`question ${n}: always call me Captain. ${words(300)}`);
    before.push((await at.transcript()).map(said));
  }
  const summaries = at.requests.filter(isSummary);
  expect(summaries.length).toBeGreaterThan(0);
  const last = at.requests.findLast((request) => !isSummary(request))!;
  expect(said(last.messages[0]!)).toContain("The walls are done.");
  expect(said(last.messages[0]!)).toContain("always call me Captain");
  expect(
    at.events
      .filter(({ stream }) => stream === "compaction")
      .map(({ data }) => (data as { phase: string }).phase)
      .slice(0, 2),
  ).toEqual(["start", "end"]);
  for (const [index, texts] of before.entries()) if (index > 0) expect(texts.slice(0, before[index - 1]!.length)).toEqual(before[index - 1]);
  expect((await at.store.read("sessions.get", { key: KEY }))!.entry["compactionCount"]).toBeGreaterThan(0);
});

test("when the provider says it is too long, the conversation is summed up and asked again, and the user sees only the answer", async () => {
  let refusals = 1;
  const at = await openFixture({
    contextWindow: 200_000,
    says: Array.from({ length: 20 }, () => (request: { readonly tools?: unknown; readonly messages: readonly unknown[] }): Says => {
      if (isSummary(request)) return SUMMARY;
      if (request.messages.length > 6 && refusals-- > 0) return { fails: "context_overflow", text: "prompt is too long" };
      return words(8_000);
    }),
  });
  for (let n = 0; n < 3; n += 1) await at.turn(`question ${n} ${words(8_000)}`);
  const end = await at.turn("and now?");
  expect(end).toMatchObject({ status: "ok" });
  expect(at.requests.filter(isSummary).length).toBeGreaterThan(0);
  expect((await at.transcript()).filter(({ stopReason }) => stopReason === "error")).toEqual([]);
});

test("when nothing helps the user is shown what to do, after few requests", async () => {
  const at = await openFixture({
    contextWindow: 200_000,
    says: Array.from(
      { length: 30 },
      () =>
        (request: { readonly tools?: unknown }): Says =>
          isSummary(request) ? SUMMARY : { fails: "context_overflow", text: "prompt is too long" },
    ),
  });
  expect(await at.turn("hello")).toMatchObject({ status: "failed", error: OVERFLOW_TEXT });
  expect(at.requests.length).toBeLessThan(12);
});

/** Characters of everything in a request. */
const charsOf = (request: { readonly systemPrompt?: string; readonly messages: readonly unknown[]; readonly tools?: readonly unknown[] }): number =>
  (request.systemPrompt ?? "").length + JSON.stringify(request.messages).length + JSON.stringify(request.tools ?? []).length;

/** A model that refuses whatever is longer than it really takes, summaries included. */
const bounded =
  (most: number, answer: string) =>
  (request: CallRequest): Says =>
    charsOf(request) > most ? { fails: "context_overflow", text: "prompt is too long" } : isSummary(request) ? SUMMARY : answer;

test.each([
  ["a conversation", 60_000, Array.from({ length: 8 }, (_, n) => `question ${n} ${words(1_500)}`)],
  ["one message", 40_000, [`look at this ${words(40_000)}`]],
  ["a conversation that not even a summary can be asked for", 20_000, Array.from({ length: 6 }, (_, n) => `question ${n} ${words(1_200)}`)],
])("%s longer than the model really takes is made shorter until it fits; the next turn works, too", async (_, most, questions) => {
  const at = await openFixture({ contextWindow: 200_000, says: Array.from({ length: 200 }, () => bounded(most, words(300))) });
  for (const question of questions) expect(await at.turn(question)).toMatchObject({ status: "ok" });
  const before = at.requests.length;
  expect(await at.turn("and now?")).toMatchObject({ status: "ok" });
  expect(at.requests.length - before).toBeLessThanOrEqual(14);
  expect(await at.turn("and then?")).toMatchObject({ status: "ok" });
  // The transcript has every word.
  expect((await at.transcript()).map(said)).toContain(questions[0]!);
});

test("a result larger than the window is shortened with a mark, and the user is notified", async () => {
  const big: Tool = {
    name: "dump",
    description: "",
    parameters: { type: "object", properties: {} },
    source: { kind: "core" },
    run: () => Promise.resolve(textOutcome(`FIRST ${words(90_000)} LAST`)),
  };
  const answer = bounded(60_000, "done");
  let asked = 0;
  const says = Array.from({ length: 40 }, () => (request: CallRequest): Says => {
    const reply = answer(request);
    return typeof reply === "string" && !isSummary(request) && (asked += 1) === 1 ? { calls: [{ name: "dump" }] } : reply;
  });
  const at = await openFixture({ contextWindow: 64_000, tools: [big], says });
  expect(await at.turn("dump it")).toMatchObject({ status: "ok", text: "done" });
  expect(await at.turn("again?")).toMatchObject({ status: "ok" });
});

test("instructions that fill the window are shortened, and the user is notified", async () => {
  const at = await openFixture({ contextWindow: 20_000, says: Array.from({ length: 30 }, () => bounded(70_000, "fine")) });
  expect(await at.turn("hello", { systemPrompt: words(30_000) })).toMatchObject({ status: "ok", text: "fine" });
  const notices = at.events.flatMap(({ stream, data }) => (stream === "compaction" && "notice" in data ? [data.notice] : []));
  expect(notices.join()).toContain("characters of instructions");
});

test("images that the provider refuses are left out of this turn and of those after it; later ones are shown", async () => {
  const { default: sharp } = await import("sharp");
  const picture = async (background: string): Promise<ImageContent> => ({
    type: "image",
    data: (
      await sharp({ create: { width: 8, height: 8, channels: 3, background } })
        .png()
        .toBuffer()
    ).toString("base64"),
    mimeType: "image/png",
  });
  const [refused, good] = [await picture("#ff0000"), await picture("#00ff00")];
  const shows = ({ messages }: CallRequest, { data }: ImageContent): boolean => JSON.stringify(messages).includes(data);
  const answer = (request: CallRequest): Says => (shows(request, refused) ? { fails: "image_size", text: "Invalid image data" } : "fine");
  const at = await openFixture({ contextWindow: 200_000, says: Array.from({ length: 6 }, () => answer) });
  expect(await at.turn("what is this?", { images: [refused] })).toMatchObject({ status: "ok", text: "fine" });
  const notices = at.events.flatMap(({ stream, data }) => (stream === "compaction" && "notice" in data ? [data.notice] : []));
  expect(notices.join()).toContain("The provider rejected the images: 1 image left out");
  expect(at.requests).toHaveLength(2);
  expect(await at.turn("and now?")).toMatchObject({ status: "ok" });
  expect(at.requests).toHaveLength(3);
  expect(JSON.stringify(at.requests.at(-1)!.messages)).toContain("[image omitted: the provider rejected");
  expect(await at.turn("and this one?", { images: [good] })).toMatchObject({ status: "ok" });
  expect(at.requests).toHaveLength(4);
  expect(shows(at.requests.at(-1)!, good)).toBe(true);
  expect(await at.turn("once more?")).toMatchObject({ status: "ok" });
  expect(shows(at.requests.at(-1)!, good)).toBe(true);
});

test("a session can be summed up by hand, with what to look at", async () => {
  const at = await openFixture({ contextWindow: 200_000, says: Array.from({ length: 20 }, (_, n) => talking(`answer ${n} ${words(6_000)}`)) });
  for (let n = 0; n < 5; n += 1) await at.turn(`question ${n} ${words(6_000)}`);
  const outcome = await at.agents.compact({ agentId: "main", sessionKey: KEY, instructions: "keep the colours", signal: new AbortController().signal });
  expect(outcome).toMatchObject({ compacted: true });
  expect(JSON.stringify(at.requests.findLast(isSummary)!.messages)).toContain("keep the colours");
  await at.turn("go on");
  expect(said(at.requests.at(-1)!.messages[0]!)).toContain("The walls are done.");
});

test("a session without a conversation says so", async () => {
  const at = await openFixture({ says: [] });
  expect(await at.agents.compact({ agentId: "main", sessionKey: KEY, signal: new AbortController().signal })).toMatchObject({ compacted: false });
});

test("shortly before, a silent turn writes notes, once", async () => {
  const notes: string[] = [];
  const write: Tool = {
    name: "write",
    description: "",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    source: { kind: "core" },
    run: ({ params }) => (notes.push(String(params["text"])), Promise.resolve(textOutcome("written"))),
  };
  const at = await openFixture({
    contextWindow: 100_000,
    tools: [write],
    says: [
      { text: "one", usage: used(77_000) },
      { calls: [{ name: "write", args: { text: "the house is blue" } }] },
      "NO_REPLY",
      { text: "two", usage: used(78_000) },
    ],
  });
  const input = await at.accept("hello");
  const stopping = new AbortController().signal;
  const first = (await at.agents.turn(input, at.ports())) as TurnEnd;
  await at.agents.after(input, first, { signal: stopping, stopping });
  expect(notes).toEqual(["the house is blue"]);
  const again = await at.accept("more");
  const second = (await at.agents.turn(again, at.ports())) as TurnEnd;
  await at.agents.after(again, second, { signal: stopping, stopping });
  expect(at.requests).toHaveLength(4);
});

test("a model with too small a window is not talked to", async () => {
  const at = await openFixture({ contextWindow: 8_000, says: ["no"] });
  await expect(at.turn("hello")).rejects.toThrow(/8000 tokens, at least 16000 are needed/);
});

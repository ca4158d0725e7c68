import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { ModelEntry } from "../../src/models/entry.ts";
import { encodeBody, loadWire, WIRE_APIS, type WireFormat } from "../../src/models/wire/index.ts";
import type { ModelMessage } from "../../src/protocol/index.ts";
import { pruningSettings, view, type View, type ViewSettings } from "../../src/sessions/index.ts";

const NOW = 1_772_000_000_000;
const RUNS = 300;

const model = (api: string, contextWindow = 4_000): ModelEntry => ({
  provider: "anthropic",
  id: "scripted",
  name: "Scripted",
  api,
  baseUrl: "http://127.0.0.1:1",
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 3 },
  contextWindow,
  maxTokens: 1_000,
  source: "config",
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const ids = fc.constantFrom("c1", "c2", "c3|fc_1", "c3|fc_2", "bad id!", "", "x".repeat(90));
const words = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom("", "   ", "\ud83d", "wörld 🦞", "</summary>"),
  fc.integer({ min: 1, max: 9_000 }).map((n) => "z".repeat(n)),
);
const junk = fc.anything({ maxDepth: 2, withNullPrototype: true, withDate: true, withBigInt: true });
const image = fc.record({
  type: fc.constant("image"),
  data: fc.constantFrom(PNG, "AAAA", "iVBORw0KGgo*", `data:image/png;base64,${PNG}`),
  mimeType: fc.constant("image/jpeg"),
});
const textBlock = fc.record({ type: fc.constant("text"), text: fc.oneof(words, junk) });
const call = fc.record(
  {
    type: fc.constant("toolCall"),
    id: ids,
    name: fc.constantFrom("read", "exec", "odd name/x", ""),
    arguments: fc.oneof(fc.object({ maxDepth: 1 }), fc.constant({}), junk),
  },
  { requiredKeys: ["type"] },
);
const thinking = fc.record({ type: fc.constant("thinking"), thinking: words, thinkingSignature: fc.option(words, { nil: undefined }), redacted: fc.boolean() });
const blocks = fc.oneof({ weight: 5, arbitrary: fc.array(fc.oneof(textBlock, image, call, thinking, junk), { maxLength: 4 }) }, words, junk);
const message = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record(
      {
        role: fc.constant("user"),
        content: blocks,
        timestamp: fc.integer(),
        provenance: fc.oneof(fc.constant({ kind: "inter_session", sourceSessionKey: "a\nb" }), junk),
      },
      { requiredKeys: ["role"] },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        role: fc.constant("assistant"),
        content: blocks,
        stopReason: fc.constantFrom("stop", "toolUse", "error", "aborted", "odd"),
        provider: fc.constantFrom("anthropic", "openai"),
        usage: fc.oneof(fc.constant({ input: 5, output: 5 }), junk),
        timestamp: fc.integer({ min: NOW - 3_600_000, max: NOW }),
      },
      { requiredKeys: ["role"] },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      { role: fc.constant("toolResult"), toolCallId: ids, toolName: fc.constant("read"), content: blocks, details: junk, isError: fc.boolean() },
      { requiredKeys: ["role"] },
    ),
  },
  fc.record(
    { role: fc.constantFrom("bashExecution", "custom", "hookMessage", "system", "compactionSummary"), command: words, output: words, content: blocks },
    { requiredKeys: ["role"] },
  ),
  junk,
);
const names = fc.constantFrom("e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8");
const entry = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      { type: fc.constant("message"), message, timestamp: fc.constantFrom("2026-02-19T10:00:00.000Z", "never") },
      { requiredKeys: ["type"] },
    ),
  },
  fc.record(
    { type: fc.constant("compaction"), summary: fc.oneof(words, junk), firstKeptEntryId: fc.oneof(names, junk), tokensBefore: junk },
    { requiredKeys: ["type"] },
  ),
  fc.record(
    { type: fc.constantFrom("branch_summary", "custom_message", "label", "session", "novel"), summary: words, content: blocks },
    { requiredKeys: ["type"] },
  ),
  fc.record({
    type: fc.constant("custom"),
    customType: fc.constant("openclaw.cache-ttl"),
    data: fc.record({ timestamp: fc.integer({ min: NOW - 3_600_000, max: NOW }), provider: fc.constant("anthropic") }),
  }),
  junk,
);

/** A turn with tools as it is when nothing went wrong, with results of any size. */
const exchange = fc
  .array(fc.tuple(ids, fc.integer({ min: 1, max: 9_000 }), fc.integer({ min: 0, max: 600_000 })), { minLength: 1, maxLength: 3 })
  .map((calls): unknown[] => [
    { type: "message", message: { role: "user", content: "go on" } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: calls.map(([id]) => ({ type: "toolCall", id, name: "read", arguments: {} })),
        provider: "anthropic",
        usage: { input: 9, output: 9 },
        timestamp: NOW - calls[0]![2],
      },
    },
    ...calls.map(([id, size]) => {
      // Some show a page that the next one of the same tab replaces.
      const shown = size % 2 === 0 ? { details: { page: { key: "tab", whole: true } } } : {};
      return { type: "message", message: { role: "toolResult", toolCallId: id, toolName: "read", content: "r".repeat(size), ...shown } };
    }),
  ]);
const stretch = fc.oneof({ weight: 3, arbitrary: entry.map((single): unknown[] => [single]) }, { weight: 1, arbitrary: exchange });
const place = fc.constantFrom("chain", "chain", "chain", "chain", "chain", "chain", "chain", "chain", "root", "none", "odd");

/** Mostly one branch, with side branches, circles, repeated ids and entries without a tree among it. */
const transcript = fc.array(fc.tuple(stretch, fc.option(names, { freq: 12 }), place), { maxLength: 24 }).map((list) => {
  let last: string | null = null;
  let count = 0;
  return list.flatMap(([entries, name, where]) =>
    entries.map((raw, at) => {
      if (typeof raw !== "object" || raw === null || Array.isArray(raw) || where === "none") return raw;
      const id = at === 0 && name !== null ? name : `n${(count += 1)}`;
      const parentId: string | null = at > 0 || where === "chain" ? last : where === "root" ? null : "e3";
      last = id;
      return { ...raw, id, parentId };
    }),
  );
});

const settings: fc.Arbitrary<ViewSettings> = fc.record(
  {
    contextTokens: fc.constantFrom(1_500, 3_000, 100_000),
    maxImages: fc.constantFrom(0, 1, 20),
    pruning: fc.constantFrom(
      pruningSettings({ mode: "cache-ttl", keepLastAssistants: 1, minPrunableToolChars: 0 }),
      pruningSettings({ mode: "cache-ttl", softTrimRatio: 0, hardClearRatio: 0, keepLastAssistants: 0, minPrunableToolChars: 0, tools: { deny: ["ex*"] } }),
      undefined,
    ),
  },
  { requiredKeys: [] },
);

/** What every provider insists on. */
function expectValid(messages: readonly ModelMessage[]): void {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const { role, content, ...rest } of messages) {
    expect(content.length).toBeGreaterThan(0);
    if (role !== "toolResult") expect(open).toEqual([]);
    if (role === "toolResult") expect((rest as { toolCallId: string }).toolCallId).toBe(open.shift());
    expect("details" in rest).toBe(false);
    for (const part of typeof content === "string" ? [] : content) {
      if (part.type === "text") expect(part.text.trim() !== "" && part.text.isWellFormed()).toBe(true);
      if (part.type === "image") expect(part.mimeType).toBe("image/png");
      if (part.type !== "toolCall") continue;
      expect(part.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(typeof part.arguments === "object" && part.arguments !== null && !Array.isArray(part.arguments)).toBe(true);
      expect(seen.has(part.id.split("|")[0]!)).toBe(false);
      seen.add(part.id.split("|")[0]!);
      open.push(part.id);
    }
  }
  expect(open).toEqual([]);
}

const asEntries = ({ messages }: View): unknown[] =>
  messages.map((item, at) => ({
    type: "message",
    id: `m${at}`,
    parentId: at === 0 ? null : `m${at - 1}`,
    message: item,
  }));

const GUARD_CHARS = 3;
function weighed(messages: readonly ModelMessage[]): number {
  let sum = 0;
  for (const { role, content } of messages) {
    for (const part of typeof content === "string" ? [{ type: "text" as const, text: content }] : content) {
      if (part.type === "text") sum += part.text.length * (role === "toolResult" ? 2 : 1);
      else if (part.type === "image") sum += 8_000;
      else if (part.type === "thinking") sum += part.thinking.length;
      else sum += part.name.length + JSON.stringify(part.arguments).length;
    }
  }
  return sum;
}

describe("whatever a transcript holds", () => {
  test("transcripts made up here reach every part of the view", () => {
    const sum: Record<string, number> = { calls: 0, images: 0, summaries: 0 };
    for (const [entries, chosen, historyLimit] of fc.sample(fc.tuple(transcript, settings, fc.constantFrom(undefined, 1)), { numRuns: 2_000, seed: 7 })) {
      const { messages, dropped } = view({ entries, model: model("any"), settings: { ...chosen, historyLimit }, now: NOW });
      for (const [name, count] of Object.entries(dropped)) sum[`dropped ${name}`] = (sum[`dropped ${name}`] ?? 0) + count;
      for (const { content } of messages) {
        for (const part of content) {
          if (typeof part === "string") continue;
          if (part.type === "toolCall") sum["calls"]! += 1;
          if (part.type === "image") sum["images"]! += 1;
          if (part.type === "text" && part.text.includes("<summary>")) sum["summaries"]! += 1;
        }
      }
    }
    expect(Object.entries(sum).filter(([, count]) => count < 10)).toEqual([]);
  });

  test("the view is valid: paired, nothing empty, no id twice", () => {
    fc.assert(
      fc.property(transcript, settings, fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }), (entries, chosen, historyLimit) => {
        expectValid(view({ entries, model: model("any"), settings: { ...chosen, historyLimit }, now: NOW }).messages);
      }),
      { numRuns: RUNS * 3 },
    );
  });

  test("the same transcript gives the same view, and nothing of it is changed", () => {
    fc.assert(
      fc.property(transcript, settings, (entries, chosen) => {
        const before = structuredClone(entries);
        const first = view({ entries, model: model("any"), settings: chosen, now: NOW });
        expect(view({ entries, model: model("any"), settings: chosen, now: NOW })).toEqual(first);
        expect(structuredClone(entries)).toEqual(before);
      }),
      { numRuns: RUNS },
    );
  });

  test("a view of the view is the view", () => {
    fc.assert(
      fc.property(transcript, settings, (entries, { contextTokens, maxImages }) => {
        const chosen = { contextTokens, maxImages };
        const first = view({ entries, model: model("any"), settings: chosen, now: NOW });
        expect(view({ entries: asEntries(first), model: model("any"), settings: chosen, now: NOW }).messages).toEqual(first.messages);
      }),
      { numRuns: RUNS },
    );
  });

  test("it stays within the window, or says that it does not and has no tool result left to give", () => {
    fc.assert(
      fc.property(transcript, settings, (entries, chosen) => {
        const { messages, window, fits } = view({ entries, model: model("any"), settings: chosen, now: NOW });
        expect(fits).toBe(weighed(messages) <= window * GUARD_CHARS);
        for (const item of messages) {
          if (item.role !== "toolResult") continue;
          const chars = item.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
          expect(chars).toBeLessThanOrEqual(window);
          if (!fits) expect(weighed([item])).toBeLessThan(200);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("an entry that the last compaction put away is not seen", () => {
    const line = (id: string, parentId: string | null, text: string) => ({ type: "message", id, parentId, message: { role: "user", content: text } });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(20), (length, kept) => {
        const old = Array.from({ length }, (_, at) => line(`o${at}`, at === 0 ? null : `o${at - 1}`, `old ${at}.`));
        const keep = Math.min(kept, length - 1);
        const compaction = { type: "compaction", id: "c", parentId: `o${length - 1}`, summary: "short", firstKeptEntryId: `o${keep}`, tokensBefore: 1 };
        const { messages } = view({ entries: [...old, compaction, line("n", "c", "new")], model: model("any", 200_000), now: NOW });
        expect(messages).toHaveLength(1 + length - keep + 1);
        expect(JSON.stringify(messages[0])).toContain("<summary>\\nshort\\n</summary>");
      }),
      { numRuns: 60 },
    );
  });
});

/** Ids of calls and of results in a body, in order, by the shape of each format. */
const PAIRS: Readonly<Record<string, (body: Record<string, unknown>) => readonly [calls: unknown[], results: unknown[]]>> = {
  "openai-completions": (body) => chat(body["messages"] as ChatMessage[]),
  "openai-responses": (body) => {
    const items = body["input"] as Record<string, unknown>[];
    const of = (type: string): unknown[] => items.filter((item) => item["type"] === type).map((item) => item["call_id"]);
    return [of("function_call"), of("function_call_output")];
  },
  "anthropic-messages": (body) => {
    const turns = body["messages"] as { role: string; content: Record<string, unknown>[] }[];
    turns.forEach(({ role, content }, at) => {
      expect(role).toBe(at % 2 === 0 ? "user" : "assistant");
      expect(content.length).toBeGreaterThan(0);
    });
    const of = (type: string, id: string): unknown[] =>
      turns.flatMap(({ content }) => content.filter((block) => block["type"] === type).map((block) => block[id]));
    turns.forEach(({ content }, at) => {
      const asked = content.filter((block) => block["type"] === "tool_use").map((block) => block["id"]);
      const answered = (turns[at + 1]?.content ?? []).filter((block) => block["type"] === "tool_result").map((block) => block["tool_use_id"]);
      if (asked.length > 0) expect(answered).toEqual(asked);
    });
    return [of("tool_use", "id"), of("tool_result", "tool_use_id")];
  },
  "google-generative-ai": (body) => {
    const contents = body["contents"] as { role: string; parts: Record<string, { name: string }>[] }[];
    contents.forEach(({ role, parts }, at) => {
      expect(role).toBe(at % 2 === 0 ? "user" : "model");
      expect(parts.length).toBeGreaterThan(0);
    });
    const of = (kind: string): unknown[] => contents.flatMap(({ parts }) => parts.flatMap((part) => (part[kind] ? [part[kind].name] : [])));
    return [of("functionCall"), of("functionResponse")];
  },
  ollama: (body) => {
    const messages = body["messages"] as { role: string; tool_calls?: unknown[]; tool_name?: string }[];
    return [messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(() => 1)), messages.filter(({ role }) => role === "tool").map(() => 1)];
  },
};

interface ChatMessage {
  role: string;
  tool_call_id?: string;
  tool_calls?: { id: string }[];
}

function chat(messages: ChatMessage[]): readonly [unknown[], unknown[]] {
  return [
    messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id)),
    messages.filter(({ role }) => role === "tool").map((item) => item.tool_call_id),
  ];
}

describe.each(WIRE_APIS)("as %s sends it", (api) => {
  let format: WireFormat;
  beforeAll(async () => {
    format = await loadWire(api);
  });

  test("every call has its result, once, and the body is well-formed", () => {
    const pairs = PAIRS[api]!;
    fc.assert(
      fc.property(transcript, settings, (entries, chosen) => {
        const { messages } = view({ entries, model: model(api), settings: chosen, now: NOW });
        const text = new TextDecoder().decode(encodeBody(format, { model: model(api), messages, thinking: "low", apiKey: "k" }));
        // Half a surrogate pair would be written as an escape.
        expect(text.replaceAll("\\\\", "")).not.toMatch(/\\ud[89a-f]/i);
        const [calls, results] = pairs(JSON.parse(text) as Record<string, unknown>);
        expect(results).toEqual(calls);
        if (api !== "google-generative-ai" && api !== "ollama") expect(new Set(calls).size).toBe(calls.length);
      }),
      { numRuns: RUNS },
    );
  });
});

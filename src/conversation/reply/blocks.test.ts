import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { seededRandom } from "../../base/random.ts";
import { findFences } from "../../channels/index.ts";
import type { ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import { createBlockWriter, blockSettings, type BlockSettings, type BreakPreference, type ChunkSettings } from "./blocks.ts";
import { humanDelayMs } from "./live-turn.ts";

const NOW = { minChars: 1, maxChars: 10_000, idleMs: 0 };

function writer(chunk: Partial<ChunkSettings>, coalesce: Partial<BlockSettings["coalesce"]> = {}, breakAt: BlockSettings["breakAt"] = "text_end") {
  const clock = manualClock();
  const blocks: string[] = [];
  const raw: string[] = [];
  const settings = { breakAt, chunk: { minChars: 10, maxChars: 40, breakPreference: "paragraph" as const, ...chunk }, coalesce: { ...NOW, ...coalesce } };
  const made = createBlockWriter({ settings, clock, emit: (block) => (raw.push(block.raw), blocks.push(block.text)) });
  const end = () => {
    for (const block of made.rest()) {
      raw.push(block.raw);
      if (block.text !== "") blocks.push(block.text);
    }
    return blocks;
  };
  return { ...made, clock, blocks, raw, end };
}

describe("cutting", () => {
  it.each<[string, Partial<ChunkSettings>, string, string[]]>([
    ["a paragraph that is long enough", {}, "First paragraph.\n\nSecond", ["First paragraph."]],
    ["not before the least length", { minChars: 30 }, "First paragraph.\n\nSecond", []],
    ["not at a line where paragraphs are wanted", {}, "First line here\nSecond", []],
    ["at a line where those are wanted", { breakPreference: "newline" }, "First line here\nSecond", ["First line here"]],
    ["at a sentence where those are wanted", { breakPreference: "sentence" }, "One is here. Two", ["One is here."]],
    ["not inside of a number", { breakPreference: "sentence" }, "Pi is 3.14159 or so", []],
    ["at a line when no more fits", {}, `First line here\n${"x".repeat(30)}`, ["First line here"]],
    ["at a sentence when no more fits", {}, "A sentence is here. And then goes on and on", ["A sentence is here."]],
    ["at a blank when no more fits", {}, "many words without any end that go on and on", ["many words without any end that go on"]],
    ["hard when there is nothing else", {}, "x".repeat(45), ["x".repeat(40)]],
    ["never inside of a character", {}, `${"x".repeat(39)}😀${"y".repeat(5)}`, ["x".repeat(39)]],
    [
      "not inside of a line that would be read as the beginning of code",
      { breakPreference: "sentence" },
      "One is here. Two\n```. ` Three. Four",
      ["One is here."],
    ],
    ["before code rather than inside of it", {}, "Look at this:\n```js\nlet a = 1;\n\nlet b = 2;\nlet c", ["Look at this:"]],
  ])("%s", (_name, chunk, text, expected) => {
    const made = writer(chunk);
    made.push(text);
    expect(made.blocks).toEqual(expected);
  });

  it("closes code that has to be cut and opens it again", () => {
    const made = writer({ maxChars: 50 });
    made.push("```ts\nconst first = 1;\nconst second = 2;\nconst third = 3;\nconst fourth = 4;\n```\nDone.");
    expect(made.end()).toEqual(["```ts\nconst first = 1;\nconst second = 2;\n```", "```ts\nconst third = 3;\nconst fourth = 4;\n```\nDone."]);
  });

  it("waits for the whole message where that is wanted, and still cuts", () => {
    const made = writer({}, { maxChars: 40 }, "message_end");
    made.push("First paragraph.\n\nSecond paragraph is longer.\n\nThird.");
    expect(made.blocks).toEqual([]);
    expect(made.end()).toEqual(["First paragraph.", "Second paragraph is longer.\n\nThird."]);
  });
});

describe("putting blocks together", () => {
  it("waits until nothing came for a while", () => {
    const made = writer({}, { idleMs: 1000 });
    made.push("First paragraph.\n\nSecond");
    made.clock.advance(900);
    made.push(" paragraph.\n\nThird");
    made.clock.advance(999);
    expect(made.blocks).toEqual([]);
    made.clock.advance(1);
    expect(made.blocks).toEqual(["First paragraph.\n\nSecond paragraph."]);
  });

  it("does not send less than wanted, but for the end", () => {
    const made = writer({}, { idleMs: 1000, minChars: 100 });
    made.push("First paragraph.\n\nSecond");
    made.clock.advance(60_000);
    expect(made.blocks).toEqual([]);
    expect(made.end()).toEqual(["First paragraph.\n\nSecond"]);
  });

  it("does not wait once no more fits", () => {
    const made = writer({}, { idleMs: 1000, maxChars: 40 });
    made.push("First paragraph.\n\nSecond paragraph.\n\nThird paragraph.\n\n");
    expect(made.blocks).toEqual(["First paragraph.\n\nSecond paragraph."]);
    expect(made.end()).toEqual(["First paragraph.\n\nSecond paragraph.", "Third paragraph."]);
  });

  it("gives nothing out after it was stopped", () => {
    const made = writer({}, { idleMs: 1000 });
    made.push("First paragraph.\n\nSecond");
    made.stop();
    made.clock.advance(10_000);
    made.push("\n\nThird paragraph.\n\n");
    expect(made.blocks).toEqual([]);
  });
});

const line = fc.oneof(
  fc.constantFrom("```", "```js", "~~~", "", "- item one", "A sentence. Another one! And more?", "    indented", "  ```"),
  fc.string({ maxLength: 60 }),
  fc.string({ unit: fc.constantFrom("a", "b", " ", ".", "\n", "`"), maxLength: 120 }),
);
const texts = fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n").trimStart());
const signs = (text: string): string =>
  text
    .split("\n")
    .filter((one) => !/^ {0,3}(?:`{3,}|~{3,})/.test(one))
    .join("")
    .replaceAll(/\s/g, "");

describe("whatever is written", () => {
  it("all blocks together are the text, in order, each with its code closed and none too long", () => {
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
        fc.constantFrom<BreakPreference>("paragraph", "newline", "sentence"),
        fc.integer({ min: 0, max: 1500 }),
        (text, sizes, breakPreference, idle) => {
          const made = writer({ minChars: 40, maxChars: 130, breakPreference }, { minChars: 60, maxChars: 200, idleMs: 1000 });
          for (let at = 0, turn = 0; at < text.length; turn += 1) {
            made.push(text.slice(at, at + sizes[turn % sizes.length]!));
            at += sizes[turn % sizes.length]!;
            made.clock.advance(idle);
          }
          const blocks = made.end();
          expect(made.raw.join("")).toBe(text);
          // Long lines of signs are words: nothing is compared where they are.
          const words = /^ {0,3}`{3,}[^`\n]*`.{40}/m.test(text);
          if (!words && findFences(text).every((fence) => fence.line.length + fence.marker.length < 40)) expect(signs(blocks.join("\n"))).toBe(signs(text));
          for (const block of blocks) {
            expect(block.length).toBeLessThanOrEqual(200);
            const last = findFences(block).at(-1);
            if (last && last.line.length + last.marker.length < 40) expect(last.closing).toBeLessThan(last.end);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("settings", () => {
  const plugin = (over: Partial<ChannelPlugin> = {}) => ({ capabilities: { chatTypes: ["direct"] }, ...over }) as ChannelPlugin;
  const settings = (cfg: HostConfig, made: ChannelPlugin | undefined = plugin()) =>
    blockSettings(cfg, { plugin: made, channel: "irc", accountId: "work", agentId: "main" });

  it("are off, with the documented sizes", () => {
    expect(settings({})).toEqual({
      enabled: false,
      explicit: false,
      breakAt: "text_end",
      chunk: { minChars: 800, maxChars: 1200, breakPreference: "paragraph" },
      coalesce: { minChars: 800, maxChars: 4000, idleMs: 1000 },
      humanDelay: undefined,
    });
  });

  it.each<[HostConfig, boolean, boolean]>([
    [{ agents: { defaults: { blockStreamingDefault: "on" } } }, true, false],
    [{ agents: { defaults: { blockStreamingDefault: "on" } }, channels: { irc: { blockStreaming: false } } }, false, false],
    [{ channels: { irc: { blockStreaming: true } } }, true, true],
    [{ channels: { irc: { blockStreaming: true, accounts: { work: { blockStreaming: false } } } } }, false, false],
    [{ channels: { irc: { accounts: { Work: { blockStreaming: true } } } } }, true, true],
    [{ channels: { irc: { accounts: { other: { blockStreaming: true } } } } }, false, false],
  ])("%j → %s", (cfg, enabled, explicit) => {
    expect(settings(cfg)).toMatchObject({ enabled, explicit });
  });

  it("of an account go before the channel's, those of the agents, and the channel's own", () => {
    const own = plugin({
      streaming: { blockStreamingCoalesceDefaults: { minChars: 300, idleMs: 700 } },
      outbound: { deliveryMode: "direct", textChunkLimit: 350 },
    });
    expect(settings({}, own)).toMatchObject({ coalesce: { minChars: 300, maxChars: 350, idleMs: 700 }, chunk: { minChars: 350, maxChars: 350 } });
    const cfg: HostConfig = {
      agents: { defaults: { blockStreamingCoalesce: { idleMs: 50, minChars: 10 } } },
      channels: { irc: { blockStreamingCoalesce: { minChars: 20 }, accounts: { work: { blockStreamingCoalesce: { maxChars: 90 } } } } },
    };
    expect(settings(cfg).coalesce).toEqual({ minChars: 20, maxChars: 1200, idleMs: 50 });
    expect(settings({ ...cfg, agents: { defaults: { blockStreamingChunk: { minChars: 5, maxChars: 80, breakPreference: "sentence" } } } })).toMatchObject({
      chunk: { minChars: 5, maxChars: 80, breakPreference: "sentence" },
      coalesce: { minChars: 20, maxChars: 90 },
    });
  });
});

describe("the pause between blocks", () => {
  it.each([
    [undefined, 0, 0],
    [{ mode: "off" as const, minMs: 5, maxMs: 9 }, 0, 0],
    [{ mode: "natural" as const, minMs: 1, maxMs: 2 }, 800, 2500],
    [{ mode: "custom" as const, minMs: 100, maxMs: 200 }, 100, 200],
    [{ mode: "custom" as const, minMs: 300, maxMs: 200 }, 300, 300],
  ])("%j lies in %i to %i", (config, least, most) => {
    const random = seededRandom(1);
    for (let round = 0; round < 50; round += 1) {
      const ms = humanDelayMs(config, random);
      expect(ms).toBeGreaterThanOrEqual(least);
      expect(ms).toBeLessThanOrEqual(most);
    }
  });
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanDirectives } from "./directives.ts";
import { readElevated, readQueueMode, readReasoning, readThinking, readUsage, readVerbose } from "./levels.ts";
import { isEmptyText, partsOf, sourceText, withoutMentions } from "./message.ts";

describe("the text of a message", () => {
  test("is the text for commands, else the next best", () => {
    expect(sourceText({ BodyForCommands: "a", CommandBody: "b" })).toBe("a");
    expect(sourceText({ CommandBody: "b", RawBody: "c" })).toBe("b");
    expect(sourceText({ RawBody: "c", Body: "d" })).toBe("c");
    expect([sourceText({ Body: "d" }), sourceText({})]).toEqual(["d", ""]);
  });

  test.each([
    ["/status", "/status"],
    ["[Telegram Ann 12:00] /status", "/status"],
    ["[a] [b]  /status", "/status"],
    ["[Telegram Ops] Ann: /status", "/status"],
    ["Ann: /status", "/status"],
    ["Note: look here", "Note: look here"],
    ["[Chat history]\nBo: /stop\n[Current message - respond to this]\nAnn: /status", "/status"],
    ["/config set k=[x]", "/config set k=[x]"],
    ["tell me [about] it", "tell me [about] it"],
  ])("of %j is %j", (text, said) => {
    expect(partsOf(text).said).toBe(said);
    expect(partsOf(text).before + partsOf(text).said).toBe(text);
  });

  test("is found without whom it was said to", () => {
    const mentions = [/(?<!\w)@?claw(?!\w)/iu];
    expect(withoutMentions("@Claw /status", mentions).trim()).toBe("/status");
    expect(withoutMentions("@our_bot /status", [], "our_bot").trim()).toBe("/status");
    expect(withoutMentions("/status@our_bot", [], "our_bot")).toBe("/status@our_bot");
    expect(withoutMentions("@436641234567 /status", []).trim()).toBe("/status");
    expect(withoutMentions("me@123.org", [])).toBe("me@123.org");
  });

  test("is nothing when nobody could see it", () => {
    expect([isEmptyText("\u200B \u2060"), isEmptyText(" x ")]).toEqual([true, false]);
  });
});

describe("words for a level", () => {
  test.each([
    [
      readThinking,
      {
        off: "off",
        minimal: "min think minimal",
        low: "on enable think-hard low",
        medium: "mid med harder think-harder",
        high: "ultra ultrathink highest max HIGH",
        xhigh: "x-high x_high extra-high",
      },
    ],
    [readVerbose, { off: "off no false 0", on: "on minimal yes", full: "full all everything" }],
    [readReasoning, { off: "off hide", on: "on show", stream: "stream draft live" }],
    [readElevated, { off: "off", on: "on", ask: "ask prompt approve", full: "full auto auto-approve" }],
    [readUsage, { off: "off", tokens: "on tok min tokens", full: "full session" }],
    [
      readQueueMode,
      { steer: "steer queue", followup: "followup", collect: "collect coalesce", "steer-backlog": "steer-backlog steer+backlog", interrupt: "interrupt abort" },
    ],
  ] as const)("%# are understood in every documented form", (read, words) => {
    for (const [value, spellings] of Object.entries(words)) for (const word of spellings.split(" ")) expect([word, read(word)]).toEqual([word, value]);
    expect(read("bogus")).toBeUndefined();
    expect(read("constructor")).toBeUndefined();
  });
});

describe("settings in a text", () => {
  test.each([
    ["please /think high do it", "please do it", { think: { value: "high" } }],
    ["/think:high", "", { think: { value: "high" } }],
    ["/t : x-high", "", { think: { value: "xhigh" } }],
    ["/V on and /Reason off", "and", { verbose: { value: "on" }, reasoning: { value: "off" } }],
    ["/think low\n/think high", "", { think: { value: "high" } }],
    ["first\n/verbose full\nlast", "first\nlast", { verbose: { value: "full" } }],
    ["/think about it", "about it", { think: {} }],
    ["/model openai/gpt-5.2 hi", "hi", { model: { value: "openai/gpt-5.2" } }],
    ["/model is good", "is good", { model: {} }],
    ["/verbose:/think", "", { verbose: {}, think: {} }],
  ])("%j leaves %j", (text, rest, directives) => {
    const found = scanDirectives(text);
    expect(found.rest).toBe(rest);
    expect(found.directives).toEqual({ shortcuts: [], ...directives });
  });

  test.each(["a/think high", "http://x/think", "/thinker", "/think/high", "/unknown", "1/2", "/think@other high"])("%j holds none", (text) => {
    expect(scanDirectives(text, { botUsername: "us" })).toMatchObject({ count: 0, rest: text });
  });

  test("for our own name count", () => {
    expect(scanDirectives("/think@Us high", { botUsername: "@us" }).directives.think).toEqual({ value: "high" });
  });

  test("a word that is no value is named when nothing else is there", () => {
    expect(scanDirectives("/think hgh /verbose on")).toMatchObject({ alone: true, directives: { think: { word: "hgh" }, verbose: { value: "on" } } });
    expect(scanDirectives("/think hgh and more").alone).toBe(false);
  });

  test("exec and queue take words until one is unknown", () => {
    expect(scanDirectives("/exec host=gateway security:full ask=bogus node=n1 rest host=node")).toMatchObject({
      rest: "rest host=node",
      directives: { exec: { change: { execHost: "gateway", execSecurity: "full", execNode: "n1" }, wrong: ["ask=bogus"] } },
    });
    expect(scanDirectives("/queue coalesce debounce:2s cap=5 drop:old").directives.queue).toMatchObject({
      change: { queueMode: "collect", queueDebounceMs: 2000, queueCap: 5, queueDrop: "old" },
      wrong: [],
    });
    expect(scanDirectives("/queue bogus")).toMatchObject({ rest: "bogus", alone: false });
    expect(scanDirectives("/queue cap:0 debounce:abc drop:x").directives.queue?.wrong).toEqual(["cap:0", "debounce:abc", "drop:x"]);
    expect(scanDirectives("/queue reset").directives.queue?.reset).toBe(true);
    expect(scanDirectives("/queue debounce:1.5m").directives.queue?.change.queueDebounceMs).toBe(90_000);
  });

  test("short questions are found, or left where they cannot be answered", () => {
    expect(scanDirectives("hey /status and /id")).toMatchObject({ rest: "hey and", directives: { shortcuts: ["status", "whoami"] } });
    expect(scanDirectives("hey /status", { keepShortcuts: true })).toMatchObject({ count: 0, rest: "hey /status" });
  });

  test("nobody writes dozens of them", () => {
    const many = "/think high ".repeat(65);
    expect(scanDirectives(many)).toMatchObject({ count: 0, rest: many });
    expect(scanDirectives("/think high ".repeat(64)).rest).toBe("");
  });
});

describe("any text", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "/think",
      "/model",
      "/queue",
      "/exec",
      "/status",
      "/id",
      "/v",
      "high",
      "host=node",
      "collect",
      "cap:3",
      ":",
      " ",
      "\n",
      "/",
      "[x]",
      "Ann: ",
      "@us",
      "\u2003",
      "!",
    ),
  );
  const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));

  test("is read without a failure, and reading what is left finds nothing more", () => {
    fc.assert(
      fc.property(text, fc.boolean(), (written, keepShortcuts) => {
        const options = { botUsername: "us", keepShortcuts, isModel: (word: string) => word === "high" };
        const once = scanDirectives(written, options);
        const twice = scanDirectives(once.rest, options);
        expect(twice.count).toBe(0);
        expect(twice.rest).toBe(once.rest);
        const { before, said } = partsOf(written);
        expect(before + said).toBe(written);
        withoutMentions(said, [/@?us/iu], "us");
      }),
      { numRuns: 3000 },
    );
  });
});

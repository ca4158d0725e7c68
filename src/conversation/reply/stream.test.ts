import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HostConfig } from "../../protocol/index.ts";
import { BLOCKS, settle, stage, turnEnd, ZERO } from "./stream.fixture.ts";

const USAGE = { input: 1200, output: 345, cacheRead: 0, cacheWrite: 0, totalTokens: 1545, cost: { ...ZERO, total: 0.0123 } };

describe("the end of a turn", () => {
  it("says each answer once", async () => {
    const { stream } = stage();
    expect(await stream.finish(turnEnd(["I look.", "Done.", "Done."]))).toEqual({ payloads: [{ text: "I look." }, { text: "Done." }], between: 1 });
  });

  it("says nothing for silence and for a turn that was stopped", async () => {
    expect(await stage().stream.finish(turnEnd([], { silent: true }))).toEqual({ payloads: [] });
    expect(await stage().stream.finish(turnEnd(["half an ans"], { status: "aborted", error: "aborted (rpc)" }))).toEqual({ payloads: [] });
  });

  it("sends the files that a silent answer names, without its words, whatever of it is out", async () => {
    const file = { mediaUrl: "/srv/agent/a.png", mediaUrls: ["/srv/agent/a.png"] };
    const text = "MEDIA: ./a.png\nNO_REPLY";
    expect(await stage().stream.finish(turnEnd([text], { silent: true, text: "" }))).toEqual({ payloads: [file] });
    const long = `A first sentence that is out.\n\n${text}`;
    const resumed = stage({ deps: { spoken: ["A first sentence that is out."] } });
    expect(await resumed.stream.finish(turnEnd([long], { silent: true, text: "" }))).toEqual({ payloads: [file] });
  });

  it.each([
    ["every attempt failed: 429 rate_limit from acme (key sk-123)", "overloaded"],
    ["context window exceeded", "/compact"],
    ["401 invalid api key", "rejected the credentials"],
    [`acme/m: No API key found for provider "acme". Auth store: /s. Add one with: openclaw models auth add --provider acme`, "no API key for the model"],
    ["acme/m: HTTP 404: gone (the provider does not know this model: openclaw models list --all)", "/model shows others"],
    ["connection refused", "reached"],
    ["the model was called 200 times in one turn without finishing", "steps"],
    ["refusal by the content_filter", "declined to answer"],
    ["something odd", "Try again"],
  ])("tells a failure in its own words: %s", async (error, words) => {
    const { payloads } = await stage().stream.finish(turnEnd([], { status: "failed", error }));
    expect(payloads).toEqual([{ text: expect.stringContaining(words), isError: true }]);
    expect(payloads[0]!.text).not.toContain("sk-123");
  });

  it("tells nobody that a heartbeat failed", async () => {
    expect(await stage({ deps: { isHeartbeat: true } }).stream.finish(turnEnd([], { status: "failed", error: "x" }))).toEqual({ payloads: [] });
  });

  it("leaves out what a heartbeat says when all is well", async () => {
    const heartbeat = () => stage({ deps: { isHeartbeat: true } }).stream;
    expect((await heartbeat().finish(turnEnd(["HEARTBEAT_OK nothing new"]))).payloads).toEqual([]);
    expect((await heartbeat().finish(turnEnd(["The disk is full"]))).payloads).toEqual([{ text: "The disk is full" }]);
  });

  it("puts tokens, cost and session below the last text", async () => {
    const end = turnEnd(["One.", "Two."], { usage: [USAGE] });
    const last = async (usage: "tokens" | "full", billed: boolean) =>
      (await stage({ levels: { usage }, deps: { billed: () => billed } }).stream.finish(end)).payloads.map(({ text }) => text);
    expect(await last("tokens", false)).toEqual(["One.", "Two.\n\nUsage: 1.2k in / 345 out"]);
    expect(await last("full", true)).toEqual(["One.", "Two.\n\nUsage: 1.2k in / 345 out · est. $0.01 · session agent:main:main"]);
  });
});

describe("the prefix", () => {
  const prefixed = async (cfg: HostConfig, text = "Hi") => (await stage({ cfg }).stream.finish(turnEnd([text]))).payloads[0]!.text;
  it.each([
    [{ messages: { responsePrefix: "[bot]" } }, "[bot] Hi"],
    [{ messages: { responsePrefix: "[bot]" }, channels: { irc: { responsePrefix: "[irc]" } } }, "[irc] Hi"],
    [{ messages: { responsePrefix: "[bot]" }, channels: { irc: { responsePrefix: "[irc]", accounts: { default: { responsePrefix: "[own]" } } } } }, "[own] Hi"],
    [{ messages: { responsePrefix: "[bot]" }, channels: { irc: { responsePrefix: "" } } }, "Hi"],
    [{ messages: { responsePrefix: "auto" }, agents: { list: [{ id: "main", identity: { name: "Ada" } }] } }, "[Ada] Hi"],
    [{ messages: { responsePrefix: "auto" } }, "Hi"],
    [{ messages: { responsePrefix: "{provider}/{model} {modelFull} {identity.name} {nothing}" } }, "acme/big-1 acme/big-1-20250101 Ada {nothing} Hi"],
  ])("%j", async (cfg, text) => {
    expect(await prefixed(cfg)).toBe(text);
  });

  it("is not put before itself", async () => {
    expect(await prefixed({ messages: { responsePrefix: "[bot]" } }, "[bot] Hi")).toBe("[bot] Hi");
  });
});

describe("blocks", () => {
  const text = "First paragraph here.\n\nSecond paragraph here.\n\nThird.";

  it("go out while the answer is written, and are not said again", async () => {
    const turn = stage({ cfg: BLOCKS });
    turn.start();
    turn.write("First paragraph here.\n\nSec");
    await settle();
    expect(turn.said).toEqual([{ kind: "block", payload: { text: "First paragraph here." } }]);
    turn.write("ond paragraph here.\n\nThird.");
    expect((await turn.stream.finish(turnEnd([text]))).payloads).toEqual([{ text: "Third." }]);
    expect(turn.texts()).toEqual(["First paragraph here.", "Second paragraph here."]);
  });

  it("that were all have the usage behind them", async () => {
    const turn = stage({ cfg: BLOCKS, levels: { usage: "tokens" } });
    turn.write("First paragraph here.\n\n");
    expect((await turn.stream.finish(turnEnd(["First paragraph here."], { usage: [USAGE] }))).payloads).toEqual([
      { text: "Usage: 1.2k in / 345 out", isStatusNotice: true },
    ]);
    expect(turn.texts()).toEqual(["First paragraph here."]);
  });

  it("are off by default", async () => {
    const turn = stage({ cfg: { agents: BLOCKS.agents } });
    turn.write(text);
    expect((await turn.stream.finish(turnEnd([text]))).payloads).toEqual([{ text }]);
    expect(turn.said).toEqual([]);
  });

  it("end before a tool starts, whose line comes behind them", async () => {
    const turn = stage({ cfg: BLOCKS, levels: { verbose: "on" } });
    turn.write("I look.");
    turn.tool();
    turn.write("Done.");
    expect((await turn.stream.finish(turnEnd(["I look.", "Done."]))).payloads).toEqual([{ text: "Done." }]);
    expect(turn.texts()).toEqual(["I look.", "🛠️ Exec: ls"]);
  });

  it("are, with the rest of the text before a call, what goes out before the call", async () => {
    const cfg = { ...BLOCKS, agents: { defaults: { ...BLOCKS.agents!.defaults, humanDelay: { mode: "natural" } } } };
    const turn = stage({ cfg });
    turn.spell(text);
    await settle();
    const early = (await turn.stream.between(text))!;
    const sent = [...turn.texts(), ...early.payloads.map((payload) => payload.text)];
    expect(sent.join("\n\n")).toBe(text);
    early.committed();
    turn.tool();
    turn.write("Fourth paragraph here.\n\nEnd.");
    const end = turn.stream.finish(turnEnd([text, "Fourth paragraph here.\n\nEnd."]));
    turn.clock.advance(3000);
    expect((await end).payloads).toEqual([{ text: "End." }]);
    expect(turn.texts().at(-1)).toBe("Fourth paragraph here.");
    expect(turn.texts().length + early.payloads.length).toBe(sent.length + 1);
  });

  it("carry tags and files, each once", async () => {
    const turn = stage({ cfg: BLOCKS });
    const whole = "[[reply_to_current]] First paragraph here.\n\nMEDIA:https://x.test/a.png\nSecond paragraph here.\n\nMEDIA:./b.png\nThird.";
    turn.spell(whole);
    const { payloads } = await turn.stream.finish(turnEnd([whole]));
    const tag = { replyToTag: true, replyToCurrent: true, replyToId: "m1" };
    expect(turn.said.map(({ payload }) => payload)).toEqual([
      { text: "First paragraph here.", ...tag },
      { text: "Second paragraph here.", ...tag, mediaUrl: "https://x.test/a.png", mediaUrls: ["https://x.test/a.png"] },
    ]);
    expect(payloads).toEqual([{ text: "Third.", ...tag, mediaUrl: "/srv/agent/b.png", mediaUrls: ["/srv/agent/b.png"] }]);
  });

  it("do not go out while the answer may mean silence", async () => {
    const cfg = {
      ...BLOCKS,
      agents: { defaults: { ...BLOCKS.agents!.defaults, blockStreamingChunk: { minChars: 1, maxChars: 60, breakPreference: "sentence" } } },
    };
    const turn = stage({ cfg });
    turn.spell("NO_REPLY. Nothing. At all. ");
    turn.tool();
    expect(await turn.stream.finish(turnEnd([], { silent: true }))).toEqual({ payloads: [] });
    expect(turn.said).toEqual([]);
  });

  it("that could not be handed over come back at the end, with all that follows", async () => {
    const turn = stage({ cfg: BLOCKS, failFrom: 1 });
    turn.spell(text);
    expect((await turn.stream.finish(turnEnd([text]))).payloads.map((payload) => payload.text)).toEqual(["Second paragraph here.\n\nThird."]);
    expect(turn.texts()).toEqual(["First paragraph here."]);
  });

  it("stop when an answer begins again without a word, and the order stays", async () => {
    const turn = stage({ cfg: BLOCKS });
    turn.write("First paragraph here.\n\nThe rest of");
    turn.restart();
    turn.write("Another paragraph here.\n\nEnd.");
    const { payloads } = await turn.stream.finish(turnEnd(["First paragraph here.\n\nThe rest of it.", "Another paragraph here.\n\nEnd."]));
    expect([...turn.texts(), ...payloads.map((payload) => payload.text)]).toEqual([
      "First paragraph here.",
      "The rest of it.",
      "Another paragraph here.\n\nEnd.",
    ]);
  });

  it("of an answer that was given up take nothing away from the next", async () => {
    const turn = stage({ cfg: BLOCKS });
    turn.write("First paragraph here.\n\nSec");
    turn.restart();
    turn.write("Something else.");
    expect((await turn.stream.finish(turnEnd(["Something else."]))).payloads).toEqual([{ text: "Something else." }]);
  });

  it("have a pause between them, which the end waits for", async () => {
    const cfg = { ...BLOCKS, agents: { defaults: { ...BLOCKS.agents!.defaults, humanDelay: { mode: "custom", minMs: 500, maxMs: 500 } } } };
    const turn = stage({ cfg });
    turn.spell(text);
    await settle();
    expect(turn.texts()).toEqual(["First paragraph here."]);
    const end = turn.stream.finish(turnEnd([text]));
    turn.clock.advance(499);
    await settle();
    expect(turn.texts()).toHaveLength(1);
    turn.clock.advance(1);
    expect((await end).payloads).toEqual([{ text: "Third." }]);
    expect(turn.texts()).toEqual(["First paragraph here.", "Second paragraph here."]);
  });

  it("are not said by a turn that was stopped or left", async () => {
    const cfg = { ...BLOCKS, agents: { defaults: { ...BLOCKS.agents!.defaults, humanDelay: { mode: "natural" } } } };
    const [stopped, left] = [stage({ cfg }), stage({ cfg })];
    for (const turn of [stopped, left]) turn.spell(text);
    await stopped.stream.finish(turnEnd([text], { status: "aborted" }));
    await left.stream.abandon();
    left.write("\n\nMore and more and more.\n\n");
    left.clock.advance(60_000);
    await settle();
    expect([stopped.texts(), left.texts()]).toEqual([["First paragraph here."], ["First paragraph here."]]);
  });

  it("of the process before are continued, marked", async () => {
    const spoken = ["First paragraph here.", "```js\nlet a;\n```"];
    const whole = "First paragraph here.\n\n```js\nlet a;\nlet b;\n```\n\nEnd.";
    const turn = stage({ cfg: BLOCKS, deps: { spoken } });
    turn.write(whole);
    await settle();
    expect(turn.said).toEqual([]);
    expect((await turn.stream.finish(turnEnd([whole]))).payloads).toEqual([{ text: "(continued after a restart)\n\n```js\nlet b;\n```\n\nEnd." }]);
    expect((await stage({ deps: { spoken } }).stream.finish(turnEnd(["First paragraph here."]))).payloads).toEqual([]);
    const later = await stage({ deps: { spoken: ["I look.", "Found a", "cat."] } }).stream.finish(turnEnd(["Found a\n\ncat. It is black."]));
    expect(later.payloads).toEqual([{ text: "(continued after a restart)\n\nIt is black." }]);
    const other = await stage({ deps: { spoken } }).stream.finish(turnEnd(["Something else."]));
    expect(other.payloads).toEqual([{ text: "(continued after a restart)\n\nSomething else." }]);
  });

  it("and the end together are what was written, in order, nothing twice", async () => {
    const word = fc.constantFrom("alpha ", "beta. ", "\n", "\n\n", "gamma! ", "```\n", "x".repeat(30), "[[reply_to_current]] ", "NO ", "H");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(word, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 3 }), async (answers) => {
        const texts = answers.map((words, index) => `${index} ${words.join("").replaceAll("NO ", "no ")}`.trim());
        const turn = stage({ cfg: BLOCKS });
        answers.forEach((_, index) => {
          for (let at = 0; at < texts[index]!.length; at += 7) turn.write(texts[index]!.slice(at, at + 7));
          if (index < answers.length - 1) turn.tool();
        });
        const { payloads } = await turn.stream.finish(turnEnd(texts));
        const all = [...turn.texts(), ...payloads.map(({ text }) => text)].join("\n");
        const signs = (text: string) => text.replaceAll(/[\s`]/g, "").replaceAll("[[reply_to_current]]", "");
        // Tags inside of code are words.
        expect(signs(all)).toBe(signs(texts.join("\n")));
      }),
      { numRuns: 300 },
    );
  });
});

describe("texts before calls", () => {
  it("wait for the end where nothing is shown before, also for that of the next process", async () => {
    const turn = stage();
    expect(await turn.stream.between("I look.")).toBeUndefined();
    expect((await turn.stream.finish(turnEnd(["I look.", "Done."]))).payloads).toEqual([{ text: "I look." }, { text: "Done." }]);
    const next = stage({ deps: { unsent: ["I look."] } });
    expect((await next.stream.finish(turnEnd(["Done."]))).payloads).toEqual([{ text: "I look." }, { text: "Done." }]);
    const silent = stage({ deps: { unsent: ["I look."] } });
    expect((await silent.stream.finish(turnEnd([], { silent: true }))).payloads).toEqual([]);
  });

  it("go out at once where plugins decide about each, or a line tells of the call, with those that waited", async () => {
    const held = stage({ deps: { held: true } });
    expect((await held.stream.between("I look."))?.payloads).toEqual([{ text: "I look." }]);
    const loud = stage();
    await loud.stream.between("One.");
    loud.levels.verbose = "on";
    expect((await loud.stream.between("Two."))?.payloads).toEqual([{ text: "One." }, { text: "Two." }]);
    expect((await loud.stream.finish(turnEnd(["One.", "Two.", "Three."]))).payloads).toEqual([{ text: "Three." }]);
  });

  it("are not sent again with the files of an answer that is silent", async () => {
    const turn = stage({ deps: { held: true } });
    await turn.stream.between("Look:\nMEDIA:https://x.test/a.png");
    const end = turnEnd(["MEDIA:https://x.test/a.png"], { silent: true });
    expect((await turn.stream.finish(end)).payloads).toEqual([]);
  });
});

describe("tools", () => {
  it("are shown as the session wants, and a change counts at once", async () => {
    const turn = stage();
    turn.tool();
    turn.levels.verbose = "on";
    turn.tool("web_search", { query: "cats\nand `dogs`" });
    turn.levels.verbose = "full";
    turn.tool("my_own-tool", {}, "has ``` in it");
    await settle();
    expect(turn.said.map(({ kind, payload }) => [kind, payload.text])).toEqual([
      ["tool", "🔎 Web Search: cats and dogs"],
      ["tool", "🧩 My Own Tool"],
      ["tool", "🧩 My Own Tool\n````\nhas ``` in it\n````"],
    ]);
  });

  it("show no secrets, and no more than fits", async () => {
    const turn = stage({ levels: { verbose: "full" }, deps: { redact: (text) => text.replaceAll("hunter2", "***") } });
    turn.tool("exec", { command: `login hunter2 ${"x".repeat(500)}` }, `hunter2${"y".repeat(10_000)}`);
    await settle();
    expect(turn.texts().join("")).not.toContain("hunter2");
    expect(turn.texts().map((text) => text!.length < 2200)).toEqual([true, true]);
  });

  it("and notices are sent only when verbose", async () => {
    const [quiet, loud] = [stage({ deps: { newSessionId: "s9" } }), stage({ levels: { verbose: "on" }, deps: { newSessionId: "s9" } })];
    for (const turn of [quiet, loud]) {
      turn.start();
      turn.compacted();
    }
    await settle();
    expect(quiet.said).toEqual([]);
    expect(loud.said.map(({ payload }) => payload)).toEqual([
      { text: "🧭 New session: s9", isStatusNotice: true },
      { text: expect.stringContaining("summary"), isCompactionNotice: true },
    ]);
  });

  it("are not shown where there is no channel, nor in heartbeats", async () => {
    const turns = [stage({ levels: { verbose: "full" }, deps: { plugin: undefined } }), stage({ levels: { verbose: "full" }, deps: { isHeartbeat: true } })];
    for (const turn of turns) turn.tool();
    await settle();
    expect(turns.map((turn) => turn.said)).toEqual([[], []]);
  });
});

describe("reasoning", () => {
  it("is a message of its own before the answer", async () => {
    const turn = stage({ levels: { reasoning: "on" } });
    turn.think("Hmm");
    turn.think("Hmm, yes", ", yes");
    turn.write("Yes.");
    expect((await turn.stream.finish(turnEnd(["Yes."]))).payloads).toEqual([{ text: "Reasoning:\nHmm, yes", isReasoning: true }, { text: "Yes." }]);
  });

  it("goes out before the first block", async () => {
    const turn = stage({ cfg: BLOCKS, levels: { reasoning: "on" } });
    turn.think("Hmm");
    turn.write("First paragraph here.\n\nEnd.");
    expect((await turn.stream.finish(turnEnd(["First paragraph here.\n\nEnd."]))).payloads).toEqual([{ text: "End." }]);
    expect(turn.texts()).toEqual(["Reasoning:\nHmm", "First paragraph here."]);
  });

  it.each(["off", "stream"] as const)("is not sent at %s", async (reasoning) => {
    const turn = stage({ levels: { reasoning } });
    turn.think("Hmm");
    turn.write("Yes.");
    expect((await turn.stream.finish(turnEnd(["Yes."]))).payloads).toEqual([{ text: "Yes." }]);
  });

  it("of heartbeats only where that is wanted", async () => {
    const of = async (cfg: HostConfig) => {
      const turn = stage({ cfg, levels: { reasoning: "on" }, deps: { isHeartbeat: true } });
      turn.think("Hmm");
      return (await turn.stream.finish(turnEnd(["Look!"]))).payloads.length;
    };
    expect([await of({}), await of({ agents: { defaults: { heartbeat: { includeReasoning: true } } } })]).toEqual([1, 2]);
  });
});

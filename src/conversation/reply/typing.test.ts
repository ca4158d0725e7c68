import { describe, expect, it } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createLogger } from "../../base/log/logger.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { HostConfig } from "../../protocol/index.ts";
import { ackReactionFor, setAckReaction, type AckFacts } from "./ack.ts";
import { settle, stage, turnEnd, type Scene } from "./stream.fixture.ts";
import { typingIntervalMs, typingMode } from "./typing.ts";

function typed(scene: Scene = {}, start: () => Promise<void> = () => Promise.resolve()) {
  const calls: string[] = [];
  const typing = {
    start: () => (calls.push("start"), start()),
    stop: () => (calls.push("stop"), Promise.resolve()),
  };
  return { ...stage({ ...scene, plugin: { typing } }), calls };
}

const mode = (value: string, session?: string): HostConfig => ({
  agents: { defaults: { typingMode: value } },
  ...(session ? { session: { typingMode: session } } : {}),
});

describe("when typing is shown", () => {
  it.each([
    [{}, "direct", false, false, "instant"],
    [{}, "group", true, false, "instant"],
    [{}, "group", false, false, "message"],
    [{}, "channel", false, false, "message"],
    [{}, "direct", false, true, "never"],
    [mode("instant"), "direct", true, true, "never"],
    [mode("thinking"), "direct", false, false, "thinking"],
    [mode("thinking", "never"), "direct", false, false, "never"],
  ] as const)("%j in a %s chat (mentioned %s, heartbeat %s): %s", (cfg, chatType, wasMentioned, isHeartbeat, expected) => {
    expect(typingMode(cfg, { chatType, wasMentioned, isHeartbeat })).toBe(expected);
  });

  it("how often: the agents' setting, the session's, the channel's, 6 seconds", () => {
    const of = (agents?: number, session?: number, channel?: number) =>
      typingIntervalMs({ agents: { defaults: { typingIntervalSeconds: agents } }, session: { typingIntervalSeconds: session } }, channel);
    expect([of(), of(undefined, undefined, 4500), of(undefined, 3, 4500), of(2, 3)]).toEqual([6000, 4500, 3000, 2000]);
  });

  it.each([
    ["instant", "off", ["start", "stop"], 0],
    ["thinking", "stream", ["start", "stop"], 1],
    ["thinking", "off", [], 3],
    ["message", "stream", ["start", "stop"], 2],
    ["never", "stream", [], 3],
  ] as const)("%s (reasoning %s)", async (name, reasoning, calls, step) => {
    const turn = typed({ cfg: mode(name), levels: { reasoning } });
    const steps = [turn.start, () => turn.think("hm"), () => turn.write("Hello")];
    let begun = 3;
    steps.forEach((run, index) => {
      run();
      if (turn.calls.length > 0) begun = Math.min(begun, index);
    });
    await turn.stream.finish(turnEnd(["Hello"]));
    expect([turn.calls, begun]).toEqual([calls, step]);
  });

  it("not for words that mean silence", async () => {
    const turn = typed({ cfg: mode("message") });
    for (const sign of "NO_REPLY") turn.write(sign);
    await turn.stream.finish(turnEnd([], { silent: true }));
    expect(turn.calls).toEqual([]);
  });
});

describe("typing", () => {
  it("is shown again until the end", async () => {
    const turn = typed();
    turn.start();
    for (let second = 0; second < 13; second += 1) {
      await settle();
      turn.clock.advance(1000);
    }
    expect(turn.calls).toEqual(["start", "start", "start"]);
    await turn.stream.finish(turnEnd(["Hello"]));
    turn.clock.advance(60_000);
    expect(turn.calls).toEqual(["start", "start", "start", "stop"]);
  });

  it("ends when nothing happened for two minutes, and comes back when something does", async () => {
    const turn = typed();
    const run = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await settle();
        turn.clock.advance(1000);
      }
    };
    turn.start();
    await run(300);
    const shown = turn.calls.length;
    expect(shown).toBe(20);
    turn.tool();
    expect(turn.calls.length).toBe(shown + 1);
  });

  it("is not asked for again while it is asked for, and given up when it fails", async () => {
    const stuck = typed({}, () => new Promise<void>(() => {}));
    const broken = typed({}, () => Promise.reject(new Error("no")));
    for (const turn of [stuck, broken]) {
      turn.start();
      for (let second = 0; second < 60; second += 1) {
        await settle();
        turn.clock.advance(1000);
      }
    }
    expect([stuck.calls.length, broken.calls.length]).toEqual([1, 3]);
  });

  it("ends when the turn is left", async () => {
    const turn = typed();
    turn.start();
    await turn.stream.abandon();
    turn.clock.advance(60_000);
    expect(turn.calls).toEqual(["start", "stop"]);
  });
});

describe("the reaction that says seen", () => {
  const facts = (over: Partial<AckFacts> = {}): AckFacts => ({
    cfg: {},
    agentId: "main",
    address: { channel: "irc", accountId: "default", chatType: "group" },
    requireMention: true,
    canDetectMention: true,
    wasMentioned: true,
    ...over,
  });
  const direct = { channel: "irc", accountId: "default", chatType: "direct" } as const;

  it.each<[string, Partial<AckFacts>, string | undefined]>([
    ["a mention in a group", {}, "👀"],
    ["no mention", { wasMentioned: false }, undefined],
    ["a command without one", { wasMentioned: false, bypassedMention: true }, "👀"],
    ["a direct chat", { address: direct }, undefined],
    ["a direct chat, if asked for", { address: direct, cfg: { messages: { ackReactionScope: "direct" } } }, "👀"],
    ["all of a group", { wasMentioned: false, cfg: { messages: { ackReactionScope: "group-all" } } }, "👀"],
    ["everything", { address: direct, cfg: { messages: { ackReactionScope: "all", ackReaction: "✅" } } }, "✅"],
    ["switched off", { cfg: { messages: { ackReactionScope: "off" } } }, undefined],
    ["an empty emoji", { cfg: { messages: { ackReaction: "" } } }, undefined],
    ["the agent's own", { cfg: { agents: { list: [{ id: "main", identity: { emoji: "🦞" } }] } } }, "🦞"],
    ["the account's over the channel's", { cfg: { channels: { irc: { ackReaction: "1", accounts: { default: { ackReaction: "2" } } } } } }, "2"],
    ["WhatsApp's object in a direct chat", { address: direct, cfg: { channels: { irc: { ackReaction: { emoji: "🙂" } } } } }, "🙂"],
    ["WhatsApp's object, not in direct chats", { address: direct, cfg: { channels: { irc: { ackReaction: { emoji: "🙂", direct: false } } } } }, undefined],
    ["WhatsApp's object in groups, always", { wasMentioned: false, cfg: { channels: { irc: { ackReaction: { emoji: "🙂", group: "always" } } } } }, "🙂"],
    ["WhatsApp's object in groups, never", { cfg: { channels: { irc: { ackReaction: { emoji: "🙂", group: "never" } } } } }, undefined],
  ])("%s", (_name, over, emoji) => {
    expect(ackReactionFor(facts(over))).toBe(emoji);
  });

  const log = createLogger({ clock: manualClock(), redactor: createRedactor(), outputs: [] });
  const address = { channel: "irc", accountId: "default", to: "#a", chatType: "group" } as const;

  it.each([
    [true, ["👀", ""]],
    [false, ["👀"]],
  ])("is taken away after the answer: %s", async (removeAckAfterReply, expected) => {
    const set: string[] = [];
    const adapter = { set: ({ emoji }: { emoji: string }) => (set.push(emoji), Promise.resolve()) };
    await setAckReaction({ adapter, cfg: { messages: { removeAckAfterReply } }, address, messageId: "m1", emoji: "👀", clock: manualClock(), log }).replied();
    expect(set).toEqual(expected);
  });

  it("is removed once the platform that asked to wait has been waited for, and given up after a few tries", async () => {
    const clock = manualClock();
    const limited = Object.assign(new Error("Too Many Requests"), { error_code: 429, parameters: { retry_after: 1 } });
    const settled = async (refusals: number): Promise<number> => {
      let removals = 0;
      const adapter = { set: ({ emoji }: { emoji: string }) => (emoji === "" && (removals += 1) <= refusals ? Promise.reject(limited) : Promise.resolve()) };
      const state = { done: false };
      const replied = setAckReaction({
        adapter,
        cfg: { messages: { removeAckAfterReply: true } },
        address,
        messageId: "m1",
        emoji: "👀",
        clock,
        log,
      }).replied();
      void replied.then(() => (state.done = true));
      for (let step = 0; step < 100 && !state.done; step += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        clock.advance(500);
      }
      await replied;
      return removals;
    };
    expect(await settled(1)).toBe(2);
    expect(await settled(99)).toBe(4);
  });

  it("that could not be set is not taken away, and nobody minds", async () => {
    let calls = 0;
    const adapter = { set: () => ((calls += 1), Promise.reject(new Error("no rights"))) };
    await setAckReaction({
      adapter,
      cfg: { messages: { removeAckAfterReply: true } },
      address,
      messageId: "m1",
      emoji: "👀",
      clock: manualClock(),
      log,
    }).replied();
    await setAckReaction({ adapter, cfg: {}, address, messageId: "m1", emoji: undefined, clock: manualClock(), log }).replied();
    expect(calls).toBe(1);
  });
});

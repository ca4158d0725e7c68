/** What the agent's prompt says about the channel it answers over. */
import { expect, test } from "vitest";
import type { ChannelPlugin } from "../../src/protocol/index.ts";
import { event, OPEN, openPlace } from "./place.ts";

/** The system prompt of a turn over a channel. */
async function promptOf(channel: Partial<ChannelPlugin>, over: Parameters<typeof event>[1] = {}, config = OPEN): Promise<string> {
  let heard = "";
  await using place = await openPlace(config, { channel, heard: ({ systemPrompt }) => void (heard = systemPrompt ?? "") });
  await place.inbound.accept(event("hello", over));
  await place.out(1);
  await place.quiet();
  return heard;
}

const chatTypes: ChannelPlugin["capabilities"]["chatTypes"] = ["direct", "group"];
const runtime = (prompt: string): string => /capabilities=(\S+)/.exec(prompt)?.[1] ?? "";

test("the runtime line names what the channel can do, buttons among it where they are on", async () => {
  const capabilities = { chatTypes, reactions: true, polls: true, threads: true, media: true, nativeCommands: true };
  expect(runtime(await promptOf({ capabilities }))).toBe("polls,reactions,threads,media");
  const actions = (isOn: boolean) => ({ actions: { supportsButtons: () => isOn } }) as unknown as Partial<ChannelPlugin>;
  expect(runtime(await promptOf({ capabilities: { chatTypes }, ...actions(true) }))).toBe("inlineButtons");
  expect(runtime(await promptOf({ capabilities: { chatTypes }, ...actions(false) }))).toBe("none");
  const named = { channels: { test: { ...(OPEN.channels!["test"] as object), capabilities: ["voice"] } } };
  expect(runtime(await promptOf({ capabilities: { chatTypes } }, {}, named as typeof OPEN))).toBe("voice");
});

test("the model is not shown how the channel names us", async () => {
  const mentions = { stripPatterns: () => ["@claw\\b"] };
  let heard = "";
  await using place = await openPlace(OPEN, { channel: { mentions }, heard: ({ messages }) => void (heard = JSON.stringify(messages.at(-1))) });
  await place.inbound.accept(event("@claw water the roses"));
  await place.out(1);
  await place.quiet();
  expect(heard).toContain("] water the roses");
});

test("how freely to react comes from the channel, and nothing is said where it says nothing", async () => {
  const guided = { agentPrompt: { reactionGuidance: () => ({ level: "extensive" as const }) } };
  expect(await promptOf(guided)).toContain("EXTENSIVE");
  expect(await promptOf({})).not.toContain("## Reactions");
});

test("what the plugin says about its groups stands before the configuration's own words, in groups only", async () => {
  const groups = { resolveGroupIntroHint: ({ groupId }: { groupId?: string | null | undefined }) => `Keep it short in ${groupId}.` };
  const open = {
    channels: { test: { ...(OPEN.channels!["test"] as object), groupPolicy: "open", groups: { "*": { requireMention: false } } } },
  } as typeof OPEN;
  const chat = { type: "group" as const, id: "den" };
  const prompt = await promptOf({ groups, capabilities: { chatTypes } }, { chat, to: "den", groupSystemPrompt: "Only gardening." }, open);
  expect(prompt).toContain("## Group Chat Context\nKeep it short in den.\n\nOnly gardening.");
  expect(await promptOf({ groups })).not.toContain("Keep it short");
});

test("a plugin that fails to describe its channel does not keep a message from being answered", async () => {
  const fails = (): never => {
    throw new Error("broken");
  };
  const channel = {
    agentPrompt: { messageToolHints: fails, reactionGuidance: fails },
    actions: { supportsButtons: fails },
    groups: { resolveGroupIntroHint: fails },
  } as unknown as Partial<ChannelPlugin>;
  expect(await promptOf(channel)).toContain("## Runtime");
});

test("what a group wrote before is shown as far back as its agent wants it, else as all agents do", async () => {
  const chat = { type: "group" as const, id: "den" };
  const own = { ...(OPEN.channels!["test"] as object), groupPolicy: "open", groups: { "*": { requireMention: true } } };
  const before = async (config: object): Promise<string> => {
    let heard = "";
    await using place = await openPlace(
      { channels: { test: own }, ...config },
      {
        heard: ({ messages }) => void (heard = JSON.stringify(messages.at(-1))),
      },
    );
    for (const text of ["first", "second", "third"])
      await place.inbound.accept(event(text, { chat, to: "den", mention: { mentioned: false, canDetect: true } }));
    await place.quiet();
    await place.inbound.accept(event("and now?", { chat, to: "den", mention: { mentioned: true, canDetect: true } }));
    await place.out(1);
    await place.quiet();
    return ["first", "second", "third"].filter((text) => heard.includes(text)).join(" ");
  };
  const messages = { groupChat: { historyLimit: 2 } };
  expect(await before({ messages })).toBe("second third");
  expect(await before({ messages, agents: { list: [{ id: "main", groupChat: { historyLimit: 1 } }] } })).toBe("third");
});

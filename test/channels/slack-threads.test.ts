import { expect, test } from "vitest";
import { slackLabs } from "../conformance/channels/slack.ts";

const PATIENCE = { timeout: 50_000, interval: 50 };

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

test("with thread.inheritParent the session of a thread begins as a copy of the channel's, and goes its own way", async () => {
  await using lab = await slackLabs()({ channel: { thread: { inheritParent: true } } });
  const { gateway } = lab;
  /** The answers that the model was shown when it was asked about this word. */
  async function shownWith(word: string): Promise<readonly string[]> {
    const asked = () => gateway.model.requests.find(({ user }) => user.includes(word));
    await expect.poll(asked, PATIENCE).toBeDefined();
    await expect.poll(() => gateway.isDelivered(), PATIENCE).toBe(true);
    const { messages } = JSON.parse(asked()!.body) as Sent;
    const words = messages.filter(({ role }) => role === "assistant").flatMap(({ content }) => JSON.stringify(content).match(/w-[a-z]+/g) ?? []);
    // An answer in a thread repeats what the thread began with.
    return [...new Set(words)];
  }
  const where = { where: "group", mention: true } as const;
  const root = await lab.say("please w-apple", where);
  expect(await shownWith("w-apple")).toEqual([]);
  await lab.say("please w-pear", { ...where, replyTo: root });
  expect(await shownWith("w-pear")).toEqual(["w-apple"]);
  await lab.say("please w-later", where);
  expect(await shownWith("w-later")).toEqual(["w-apple"]);
  await lab.say("please w-plum", { ...where, replyTo: root });
  expect(await shownWith("w-plum")).toEqual(["w-apple", "w-pear"]);
});

/** Who is let in on iMessage, where the suite of all channels does not look: tapbacks, and lists that name a chat. */
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { type Chat, type FakeMessages, startMessages } from "../fakes/imessage/index.ts";

const OWNER = "+491701234567";
const STRANGER = "mallory@outside.example";

async function open(mac: FakeMessages, section: object) {
  const gateway = await startLabGateway({
    sections: {
      channels: { imessage: { cliPath: mac.cliPath, dbPath: mac.dbPath, dmPolicy: "allowlist", ...section } },
      messages: { groupChat: { mentionPatterns: ["@claw"] } },
    },
  });
  await expect.poll(async () => (await gateway.account("imessage"))?.connected).toBe(true);
  return gateway;
}

const answers = (mac: FakeMessages, chat: Chat): string[] => mac.rows.filter((row) => row.isFromMe && row.chat === chat).map(({ text }) => text);

test("a tapback of someone on the list is known to the next turn, one of a stranger is not, and neither has an answer", async () => {
  await using mac = await startMessages();
  const [direct, outside] = [mac.direct(OWNER), mac.direct(STRANGER)];
  const group = mac.group("Workshop", [OWNER, STRANGER]);
  await using gateway = await open(mac, { allowFrom: [OWNER], groups: { [group.id]: { requireMention: true } } });
  const say = async (chat: Chat, word: string): Promise<void> => {
    mac.say(OWNER, chat, `@claw and ${word}?`);
    await expect.poll(() => answers(mac, chat)).toContain(`Heard ${word}.`);
  };
  await say(direct, "w-one");
  mac.react(OWNER, mac.rows[0]!, "❤️");
  mac.react(STRANGER, mac.say(STRANGER, outside, "w-bad"), "👎");
  await say(direct, "w-two");
  await say(group, "w-three");
  mac.react(STRANGER, mac.rows.at(-1)!, "👎");
  await say(group, "w-four");
  const { requests } = gateway.model;
  expect(requests).toHaveLength(4);
  expect(requests[1]!.body).toContain("added ❤️ on message");
  for (const { body } of requests) for (const mark of ["w-bad", "👎", "mallory"]) expect(body).not.toContain(mark);
  expect(answers(mac, outside)).toEqual([]);
});

test("a list may name a chat by any of its names: everyone in it may write there, and nowhere else; the list of owners takes no groups", async () => {
  await using mac = await startMessages();
  const groups = ["One", "Two", "Three", "Four", "Five"].map((name) => mac.group(name, [OWNER, STRANGER]));
  const [one, two, three, four, five] = groups as [Chat, Chat, Chat, Chat, Chat];
  const groupAllowFrom = [`chat_id:${one.id}`, `chat_guid:${two.guid}`, `chat_identifier:${three.identifier}`];
  await using gateway = await open(mac, { allowFrom: [OWNER, `chat_id:${five.id}`], groupAllowFrom, groups: { "*": { requireMention: false } } });
  for (const chat of [four, five]) mac.say(STRANGER, chat, "and w-bad?");
  for (const chat of [one, two, three]) {
    mac.say(STRANGER, chat, `and w-${chat.id}?`);
    await expect.poll(() => answers(mac, chat)).toEqual([`Heard w-${chat.id}.`]);
  }
  expect([four, five].flatMap((chat) => answers(mac, chat))).toEqual([]);
  expect(gateway.model.requests).toHaveLength(3);
});

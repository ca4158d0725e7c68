import { expect, test } from "vitest";
import type { ChannelPlugin } from "../../src/protocol/index.ts";
import { event, OPEN, openPlace } from "./place.ts";

type Capabilities = ChannelPlugin["capabilities"];

/** What the model reads of an input. */
async function readOf(capabilities: Partial<Capabilities>, over: Parameters<typeof event>[1]): Promise<string> {
  let heard = "";
  await using place = await openPlace(OPEN, {
    channel: { capabilities: { chatTypes: ["direct"], ...capabilities } },
    heard: ({ messages }) => void (heard = JSON.stringify(messages.at(-1))),
  });
  await place.inbound.accept(event("hello", over));
  await place.out(1);
  await place.quiet();
  return heard;
}

test("ids of messages are shown to the model where it can use them, and only those of messages", async () => {
  expect(await readOf({ reply: true }, { id: "its-id" })).toContain("its-id");
  expect(await readOf({ reactions: true }, { id: "its-id" })).toContain("its-id");
  const plain = await readOf({}, { id: "its-id", context: { ReplyToId: "quoted-id", ReplyToBody: "before", ReplyToSender: "Bob" } });
  expect(plain).toContain("before");
  expect(plain).not.toMatch(/its-id|quoted-id|message_id/);
});

test("a pressed button is shown with the message that it stands under, not with the id of the press", async () => {
  const pressed = await readOf({ reply: true }, { kind: "button", id: "press-id", context: { MessageSid: "press-id", ButtonMessageId: "41" } });
  expect(pressed).toMatch(/message_id\W+41/);
  expect(pressed).not.toContain("press-id");
});

test("a sticker comes with its emoji and its set, and without ids of files", async () => {
  const sticker = await readOf({ reply: true }, { context: { Sticker: { emoji: "🦞", setName: "Lobsters", fileId: "file-id", fileUniqueId: "unique-id" } } });
  expect(sticker).toMatch(/Sticker .*🦞.*Lobsters/);
  expect(sticker).not.toMatch(/file-id|unique-id/);
});

test("the sign that a message was seen is taken away when the answer has arrived, not while it is on its way", async () => {
  const order: string[] = [];
  const free = Promise.withResolvers<void>();
  const sending = Promise.withResolvers<void>();
  const removed = Promise.withResolvers<void>();
  const config = { ...OPEN, messages: { ackReaction: "👀", ackReactionScope: "all" as const, removeAckAfterReply: true } };
  await using place = await openPlace(config, {
    channel: {
      capabilities: { chatTypes: ["direct"], reactions: true },
      reactions: {
        async set({ emoji }) {
          order.push(emoji === "" ? "taken away" : "set");
          if (emoji === "") removed.resolve();
        },
      },
      outbound: {
        deliveryMode: "direct",
        async sendText() {
          sending.resolve();
          await free.promise;
          order.push("sent");
          return { channel: "test", messageId: "m1" };
        },
      },
    },
  });
  await place.inbound.accept(event("hello"));
  await sending.promise;
  while (place.conversation.running() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(order).toEqual(["set"]);
  free.resolve();
  await removed.promise;
  expect(order).toEqual(["set", "sent", "taken away"]);
});

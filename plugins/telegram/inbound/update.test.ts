import { describe, expect, test } from "vitest";
import { ADA, BOT, DATE, DM, event, facts, GROUP, message, read } from "./samples.ts";
import { mapUpdate } from "./update.ts";

describe("besides messages", () => {
  test("an edited message tells its new text under an id of its own", () => {
    expect(read({ edited_message: message({ text: "new", edit_date: DATE + 5 }) }).events[0]).toMatchObject({
      kind: "edit",
      id: `11:edit:${DATE + 5}`,
      text: "new",
      context: { MessageSid: "11" },
    });
  });

  test("a location that moves is not reported at every step", () => {
    const edited_message = message({ location: { latitude: 1, longitude: 2, live_period: 60 }, edit_date: DATE + 5 });
    expect(read({ edited_message }).events).toEqual([]);
  });

  test("a channel is read where it is configured", () => {
    const channel = { id: -1_009, type: "channel", title: "News" };
    const channel_post = { message_id: 3, chat: channel, sender_chat: channel, date: DATE, text: "hi" };
    expect(read({ channel_post })).toMatchObject({ events: [], ignored: "channel -1009 is not in channels.telegram.groups" });
    const known = facts({ groups: { "-1009": {} } });
    expect(read({ channel_post }, known).events[0]).toMatchObject({
      kind: "message",
      chat: { type: "group", id: "-1009" },
      sender: { id: "-1009", name: "News" },
    });
    expect(read({ edited_channel_post: channel_post }, known).events[0]?.kind).toBe("edit");
  });

  const pressed = (chat: object) => ({
    callback_query: {
      id: "4382bfdwdsb323b2d9",
      from: ADA,
      chat_instance: "1",
      data: "/model gpt",
      message: message({ message_id: 50, from: BOT, text: "choose" }, chat),
    },
  });
  test("a pressed button is what stands behind it", () => {
    const { events, callbackId } = read(pressed(GROUP));
    expect(callbackId).toBe("4382bfdwdsb323b2d9");
    expect(events[0]).toMatchObject({
      kind: "button",
      id: "4382bfdwdsb323b2d9",
      text: "/model gpt",
      sender: { id: String(ADA.id) },
      mention: { mentioned: true },
      context: { MessageSid: "4382bfdwdsb323b2d9", WasMentioned: true, ButtonMessageId: "50" },
    });
  });

  test.each([
    ["off", 0, 0],
    ["dm", 1, 0],
    ["group", 0, 1],
    ["all", 1, 1],
    ["allowlist", 1, 1],
  ] as const)("with buttons %s, %i in private and %i in a group is reported, and all are answered", (buttons, direct, group) => {
    expect(read(pressed(DM), facts({ buttons })).events).toHaveLength(direct);
    expect(read(pressed(GROUP), facts({ buttons }))).toMatchObject({ callbackId: "4382bfdwdsb323b2d9" });
    expect(read(pressed(GROUP), facts({ buttons })).events).toHaveLength(group);
  });

  test("a button below a message of no chat is answered only", () => {
    expect(read({ callback_query: { id: "1", from: ADA, inline_message_id: "x", data: "d" } })).toMatchObject({ events: [], callbackId: "1" });
  });

  const reaction = {
    chat: GROUP,
    message_id: 9,
    user: ADA,
    date: DATE,
    old_reaction: [{ type: "emoji", emoji: "👎" }],
    new_reaction: [{ type: "emoji", emoji: "👍" }],
  };
  test("a reaction tells what was added and taken back", () => {
    expect(read({ message_reaction: reaction }, facts({ reactionNotices: "all" })).events[0]).toMatchObject({
      kind: "reaction",
      id: "9:reaction:1",
      text: "Telegram reaction: Ada L. added 👍, took back 👎 on message 9",
      sender: { id: String(ADA.id) },
    });
  });

  test.each([
    ["off", true, 0],
    ["own", true, 1],
    ["own", false, 0],
    ["all", false, 1],
  ] as const)("reactions %s, to ours: %s → %i", (reactionNotices, ours, count) => {
    expect(
      read(
        { message_reaction: reaction },
        facts({ reactionNotices }, () => ours),
      ).events,
    ).toHaveLength(count);
  });

  test("an anonymous reaction is the chat's", () => {
    const { user: _user, ...anonymous } = { ...reaction, actor_chat: GROUP };
    expect(read({ message_reaction: anonymous }, facts({ reactionNotices: "all" })).events[0]?.sender.id).toBe("-1001234567890");
  });

  const member = (user: object, status: string) => ({ user, status });
  test.each([
    ["we join", "my_chat_member", BOT, "left", "member", "Telegram: the bot joined (Friends)"],
    ["we are thrown out", "my_chat_member", BOT, "member", "kicked", "Telegram: the bot left (Friends)"],
    ["someone joins", "chat_member", ADA, "left", "member", "Telegram: Ada L. joined (Friends)"],
  ])("%s", (_, kind, user, before, after, text) => {
    const change = { chat: GROUP, from: ADA, date: DATE, old_chat_member: member(user, before), new_chat_member: member(user, after) };
    expect(read({ [kind]: change }).events[0]).toMatchObject({ kind: "member", text });
  });

  test("rights that change are nothing new", () => {
    const change = { chat: GROUP, from: ADA, date: DATE, old_chat_member: member(BOT, "member"), new_chat_member: member(BOT, "administrator") };
    expect(read({ my_chat_member: change })).toMatchObject({ events: [], ignored: "only permissions changed" });
  });

  test("a join is reported once, also where two updates report it", () => {
    const announced = read({ message: message({ new_chat_members: [ADA, { ...ADA, id: 9 }] }, GROUP) }).events;
    const change = { chat: GROUP, from: ADA, date: DATE, old_chat_member: member(ADA, "left"), new_chat_member: member(ADA, "member") };
    expect(announced.map(({ kind }) => kind)).toEqual(["member", "member"]);
    expect(announced[0]!.id).toBe(read({ chat_member: change }).events[0]!.id);
  });

  test("a group that became a supergroup has another id", () => {
    expect(read({ message: message({ migrate_to_chat_id: -100_777 }, { id: -5, type: "group", title: "Old" }) })).toMatchObject({
      migration: { from: "-5", to: "-100777" },
      events: [{ kind: "notice", chat: { id: "-5" } }],
    });
  });

  test("what is not read is named", () => {
    expect(read({ pre_checkout_query: { id: "1" } })).toEqual({ events: [], ignored: "updates of the kind pre_checkout_query are not read" });
  });
});

describe("what the Bot API would not send is refused", () => {
  test.each<[string, unknown]>([
    ["no object", null],
    ["a list", []],
    ["no number", { message: message({ text: "x" }) }],
    ["a number that is none", { update_id: "1", message: message({ text: "x" }) }],
    ["a message that is text", { update_id: 1, message: "x" }],
    ["a message without id", { update_id: 1, message: message({ text: "x", message_id: undefined }) }],
    ["a chat without id", { update_id: 1, message: message({ text: "x" }, { type: "private" }) }],
    ["a chat with an id that JavaScript cannot hold", { update_id: 1, message: message({ text: "x" }, { id: 1e300, type: "private" }) }],
    ["a chat with a broken id", { update_id: 1, message: message({ text: "x" }, { id: 1.5, type: "group" }) }],
    ["a button that nobody pressed", { update_id: 1, callback_query: { id: "1", data: "x" } }],
    ["a reaction to nothing", { update_id: 1, message_reaction: { chat: GROUP, user: ADA } }],
    ["a member who is nobody", { update_id: 1, my_chat_member: { chat: GROUP, from: ADA, date: 1 } }],
  ])("%s", (_, update) => expect(() => mapUpdate(update, facts())).toThrowError(expect.objectContaining({ name: "MalformedUpdate" })));

  test("fields of the wrong type are left out", () => {
    const odd = {
      text: "x",
      entities: "no",
      photo: {},
      reply_to_message: 5,
      forward_origin: "x",
      media_group_id: 5,
      date: "today",
      location: { latitude: "1" },
    };
    expect(event(odd)).toMatchObject({ kind: "message", text: "x" });
    expect(event(odd)).not.toHaveProperty("at");
  });
});

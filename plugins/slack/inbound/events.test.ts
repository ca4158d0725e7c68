import { afterEach, describe, expect, test } from "vitest";
import { type LabOptions, type SlackLab, startLab } from "../testing.ts";

let lab: Awaited<ReturnType<typeof startLab>>;
const open = async (options: LabOptions = {}, accept?: Parameters<SlackLab["start"]>[0]) => {
  lab = await startLab(options);
  await lab.start(accept);
  return lab.slack;
};
afterEach(() => lab[Symbol.asyncDispose]());

describe("a message", () => {
  test("in private", async () => {
    const { people, world } = await open();
    const channel = world.direct(lab.ada.id).id;
    const { ts } = people.say("a &lt;b&gt; &amp; <https://x.test|label> <https://y.test>", { by: lab.ada, channel });
    const event = await lab.event(({ id }) => id === ts);
    expect(event).toMatchObject({
      kind: "message",
      chat: { type: "direct", id: channel, teamId: world.team.id },
      sender: { id: lab.ada.id, name: "ada" },
      text: "a <b> & label (https://x.test) https://y.test",
      to: `user:${lab.ada.id}`,
      context: { From: `slack:${lab.ada.id}`, To: `user:${lab.ada.id}`, ReplyToId: ts },
    });
    expect(event.at).toBe(Math.round(Number(ts) * 1000));
  });

  test("in a channel, with a mention that also comes as app_mention: both have one id", async () => {
    const { people, world } = await open();
    const other = world.person("bob");
    const { ts } = people.say(`<@${world.bot.id}> ask <@${other.id}>`, { by: lab.ada, channel: lab.chatId });
    await lab.until(() => lab.events.filter(({ id }) => id === ts).length >= 2);
    const [first, second] = lab.events;
    expect(first).toMatchObject({
      chat: { type: "channel", id: lab.chatId, channelName: "#general", title: "general" },
      to: `channel:${lab.chatId}`,
      mention: { mentioned: true, others: true },
    });
    expect(second).toMatchObject({ id: ts, mention: { mentioned: true } });
  });

  test("of ours comes back and is known by its id; one of another bot says so", async () => {
    const { people } = await open();
    await lab.channel.outbound!.sendText!({ cfg: lab.cfg, to: `channel:${lab.chatId}`, text: "from us" });
    people.say("from a bot", { by: lab.ada, channel: lab.chatId, botId: "B0OTHER000" });
    expect(await lab.event(() => true)).toMatchObject({ text: "from a bot", sender: { isBot: true } });
  });

  test("in a thread has its first message and what was said before, of people who may write there", async () => {
    const { people, world } = await open({});
    const mallory = world.person("mallory");
    await lab.stop();
    const root = people.say("where to?", { by: lab.ada, channel: lab.chatId }).ts;
    for (const [by, text] of [
      [lab.ada, "Rome"],
      [mallory, "secret words"],
    ] as const)
      world.post({ channel: lab.chatId, text, user: by.id, threadTs: root });
    const fresh = await startLab({
      apiRoot: lab.slack.apiRoot,
      config: { botToken: lab.slack.botToken, appToken: lab.slack.appToken, channels: { [lab.chatId]: { users: [lab.ada.id] } } },
    });
    await fresh.start();
    const { ts } = people.say(`<@${world.bot.id}> what do you say?`, { by: lab.ada, channel: lab.chatId, thread: root });
    const event = await fresh.event(({ id }) => id === ts);
    expect(event).toMatchObject({
      chat: { threadId: root },
      context: { ThreadStarterBody: "where to?", IsFirstThreadTurn: true, InboundHistory: [{ sender: "ada", body: "Rome" }] },
    });
    expect(JSON.stringify(fresh.events)).not.toContain("secret words");
    await fresh[Symbol.asyncDispose]();
  });

  test("with files names them, eight at most, and they are fetched with the token", async () => {
    const { people, world } = await open();
    const data = Buffer.from("%PDF-1.7");
    const channel = world.direct(lab.ada.id).id;
    const { ts } = people.say("see", { by: lab.ada, channel, file: { name: "a.pdf", mime: "application/pdf", data } });
    const event = await lab.event(({ id }) => id === ts);
    expect(event.media).toMatchObject([{ kind: "document", mimeType: "application/pdf", fileName: "a.pdf", bytes: data.length }]);
    const params = { cfg: lab.cfg, accountId: "default", ref: event.media![0]!.ref, signal: new AbortController().signal };
    expect((await lab.channel.media!.fetch({ ...params, maxBytes: 100 })).data).toEqual(data);
    await expect(lab.channel.media!.fetch({ ...params, maxBytes: 3 })).rejects.toThrow(/mediaMaxMb/);
    for (const address of ["https://evil.test", "file://"])
      await expect(lab.channel.media!.fetch({ ...params, maxBytes: 100, ref: { url: `${address}/a.pdf` } })).rejects.toThrow(
        `a file of Slack has an address at ${address};`,
      );
  });
});

describe("what happens to messages", () => {
  test("edits, deletions, pins, members and names are events with ids of their own", async () => {
    const { people, world } = await open();
    const { ts } = people.say("one", { by: lab.ada, channel: lab.chatId });
    people.edit(lab.chatId, ts, "two");
    people.pin(lab.chatId, ts, lab.ada);
    people.remove(lab.chatId, ts);
    const bob = world.person("bob");
    people.join(lab.chatId, bob);
    people.leave(lab.chatId, bob);
    people.event({ type: "channel_rename", channel: { id: lab.chatId, name: "new", created: 1 }, event_ts: "1700000001.000100" });
    await lab.until(() => lab.events.length === 7);
    expect(lab.events.map(({ kind, text }) => [kind, text])).toEqual([
      ["message", "one"],
      ["edit", "two"],
      ["notice", `<@${lab.ada.id}> pinned message ${ts}`],
      ["notice", `message ${ts} was deleted`],
      ["member", `<@${bob.id}> joined`],
      ["member", `<@${bob.id}> left`],
      ["notice", "the channel is now called #new"],
    ]);
    expect(new Set(lab.events.map(({ id }) => id)).size).toBe(7);
  });

  test("our own edits, reactions, pins and deletions, and previews that Slack adds to links, are none", async () => {
    const { people, world } = await open();
    const to = `channel:${lab.chatId}`;
    const sent = await lab.channel.outbound!.sendText!({ cfg: lab.cfg, to, text: "one" });
    const gone = await lab.channel.outbound!.sendText!({ cfg: lab.cfg, to, text: "gone" });
    const act = (action: "edit" | "react" | "pin" | "unpin" | "delete", messageId: string, params: object = {}) =>
      lab.channel.actions!.handleAction!({ channel: "slack", action, cfg: lab.cfg, params: { to, messageId, ...params } });
    await act("edit", sent.messageId, { message: "two" });
    await act("react", sent.messageId, { emoji: "eyes" });
    await act("pin", sent.messageId);
    await act("unpin", sent.messageId);
    await act("delete", gone.messageId);
    const { ts } = people.say("a link", { by: lab.ada, channel: lab.chatId });
    people.edit(lab.chatId, ts, "a link");
    people.say("last", { by: lab.ada, channel: lab.chatId });
    await lab.event(({ text }) => text === "last");
    // On a busy machine an acknowledgement may be late, and Slack brings the same event again.
    expect([...new Map(lab.events.map(({ id, text }) => [id, text])).values()]).toEqual(["a link", "last"]);
    expect(world.find(lab.chatId, sent.messageId)!.text).toBe("two");
  });

  test.each<[string, Record<string, unknown>, readonly string[]]>([
    ["own", {}, ["ours"]],
    ["off", { reactionNotifications: "off" }, []],
    ["all", { reactionNotifications: "all" }, ["ours", "theirs"]],
    ["allowlist of others", { reactionNotifications: "allowlist", reactionAllowlist: ["U0SOMEONE"] }, []],
  ])("reactions: %s", async (_, config, expected) => {
    const { people, world } = await open({ config });
    const theirs = world.post({ channel: lab.chatId, text: "theirs", user: lab.ada.id }).ts;
    const ours = world.post({ channel: lab.chatId, text: "ours", user: world.bot.id, botId: world.bot.botId }).ts;
    for (const ts of [ours, theirs]) people.react(lab.chatId, ts, "tada", lab.ada);
    people.say("last", { by: lab.ada, channel: lab.chatId });
    await lab.event(({ text }) => text === "last");
    const names = new Map([
      [ours, "ours"],
      [theirs, "theirs"],
    ]);
    expect(lab.events.filter(({ kind }) => kind === "reaction").map(({ replyTo }) => names.get(replyTo!.id))).toEqual(expected);
  });
});

describe("commands and buttons", () => {
  test("the slash command has a session of its own, and its answer is for one person", async () => {
    const slack = await open({ config: { slashCommand: { enabled: true } } });
    const sent = slack.people.slash("/openclaw", "what is up?", lab.ada, lab.chatId);
    const event = await lab.event(({ kind }) => kind === "command");
    expect(event).toMatchObject({
      text: "what is up?",
      sender: { id: lab.ada.id },
      chat: { id: lab.chatId },
      context: { SessionKey: `slack:slash:${lab.ada.id.toLowerCase()}` },
    });
    await lab.channel.outbound!.sendText!({ cfg: lab.cfg, to: event.to, text: "**fine**" });
    expect(slack.responses()).toMatchObject([{ path: new URL(sent.responseUrl).pathname, body: { response_type: "ephemeral", text: "*fine*" } }]);
    // Slack takes five answers; what follows is shown to the same person only.
    for (const text of ["2", "3", "4", "5", "6"]) await lab.channel.outbound!.sendText!({ cfg: lab.cfg, to: event.to, text });
    expect(slack.responses()).toHaveLength(5);
    expect(
      slack.world
        .messages(lab.chatId)
        .map(({ text, ephemeralFor }) => [text, ephemeralFor])
        .at(-1),
    ).toEqual(["6", lab.ada.id]);
    expect(slack.calls()).not.toContain("chat.postMessage");
  });

  test("commands of the app are answered where they are offered, and others are not", async () => {
    const { people } = await open();
    await lab.channel.nativeCommands!.register({
      cfg: lab.cfg,
      accountId: "default",
      commands: [{ name: "think", description: "", acceptsArgs: true }],
      signal: new AbortController().signal,
    });
    const other = people.slash("/deploy", "now", lab.ada, lab.chatId);
    people.slash("/think", "high", lab.ada, lab.chatId);
    expect(await lab.event(({ kind }) => kind === "command")).toMatchObject({ text: "/think high" });
    await lab.until(() => other.isAcked);
    expect(lab.events).toHaveLength(1);
    await lab.until(() => lab.slack.responses().length > 0);
    expect(lab.slack.responses()).toMatchObject([{ body: { response_type: "ephemeral", text: "/deploy is not a command of this assistant." } }]);
  });

  test.each([
    ["/openclaw", /^\/openclaw is turned off\. To turn it on, set channels\.slack\.slashCommand\.enabled to true\.$/],
    ["/status", /^\/status is turned off\. To turn commands on, set channels\.slack\.commands\.native to true\.$/],
  ])("%s that is turned off is answered with the setting that turns it on, for one person", async (command, text) => {
    const slack = await open();
    const sent = slack.people.slash(command, "hello", lab.ada, lab.chatId);
    await lab.until(() => slack.responses().length > 0);
    expect(slack.responses()).toMatchObject([
      { path: new URL(sent.responseUrl).pathname, body: { response_type: "ephemeral", text: expect.stringMatching(text) as string } },
    ]);
    await lab.until(() => sent.isAcked);
    expect(lab.events).toEqual([]);
  });

  test("a command and a button of a person who may not use them are refused, which only that person sees", async () => {
    const slack = await open({ config: { slashCommand: { enabled: true } } }, async () => ({ outcome: "refused", why: "no" }));
    const { messageId } = await lab.channel.outbound!.sendPayload!({
      cfg: lab.cfg,
      to: `channel:${lab.chatId}`,
      text: "Pick",
      payload: { text: "Pick", channelData: { slack: { buttons: [[{ text: "Yes", callback_data: "yes" }]] } } },
    });
    slack.people.slash("/openclaw", "hello", lab.ada, lab.chatId);
    slack.people.press(lab.chatId, messageId, lab.ada, "yes");
    await lab.until(() => slack.responses().length === 2);
    for (const { body } of slack.responses())
      expect(body).toEqual({ response_type: "ephemeral", replace_original: false, text: "You are not allowed to use this here." });
    slack.people.say("hello", { by: lab.ada, channel: lab.chatId });
    await lab.event(({ text, kind }) => kind === "message" && text === "hello");
    expect(slack.responses(), "a message is refused without a word").toHaveLength(2);
  });

  test("a button and a choice are answered as their value; a form is noted", async () => {
    const { people, world } = await open();
    const buttons = (count: number) => Array.from({ length: count }, (_, n) => [{ text: `Choice ${n}`, callback_data: `/think ${n}` }]);
    for (const count of [3, 7]) {
      const { messageId } = await lab.channel.outbound!.sendPayload!({
        cfg: lab.cfg,
        to: `channel:${lab.chatId}`,
        text: "Pick",
        payload: { text: "Pick", channelData: { slack: { buttons: buttons(count) } } },
      });
      const [, actions] = world.find(lab.chatId, messageId)!.blocks as { elements: { type: string }[] }[];
      expect(actions!.elements.map(({ type }) => type)).toEqual(count === 3 ? ["button", "button", "button"] : ["static_select"]);
      people.press(lab.chatId, messageId, lab.ada, "/think 2");
    }
    await lab.until(() => lab.events.length === 2);
    people.submit(lab.ada, { b: { a: { value: "x" } } });
    await lab.until(() => lab.events.length === 3);
    expect(lab.events.map(({ kind, text }) => [kind, text])).toEqual([
      ["button", "/think 2"],
      ["button", "/think 2"],
      ["notice", 'the form form was sent: {"b":{"a":{"value":"x"}}}'],
    ]);
    expect(lab.events[0]).toMatchObject({ to: `channel:${lab.chatId}`, sender: { id: lab.ada.id } });
  });
});

test("a message with several people is a group, and a private channel is a channel", async () => {
  const { people, world } = await open();
  const members = [lab.ada.id, world.bot.id];
  const [group, secret] = [world.conversation("mpim", "mpdm-a-b-1", members), world.conversation("group", "secret", members)];
  for (const { id } of [group, secret]) people.say("hi", { by: lab.ada, channel: id });
  await lab.until(() => lab.events.length === 2);
  expect(Object.fromEntries(lab.events.map(({ chat }) => [chat.id, chat.type]))).toEqual({ [group.id]: "group", [secret.id]: "channel" });
});

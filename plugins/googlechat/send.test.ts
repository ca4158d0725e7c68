import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { parseTarget } from "./api.ts";
import { type Bench, openBench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const POST = /^POST \/v1\/spaces\/[^/]+\/messages$/;
const HERE = new URL(".", import.meta.url).pathname;

type Over = Partial<ChannelOutboundContext>;
const contextOf = (over: Over = {}, config = {}): ChannelOutboundContext => ({ cfg: bench.cfg(config), to: bench.direct.name, text: "hi", ...over });
const send = (over?: Over, config?: object) => bench.channel.outbound!.sendText!(contextOf(over, config));
const seen = (space = bench.direct) => bench.chat.messages(space).filter(({ sender }) => sender === bench.chat.bot);
const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail("it was sent"),
    (error: unknown) => error,
  );

describe("tokens", () => {
  test("one serves for all requests, and is replaced before it ends and when it is refused", async () => {
    const granted = (): number => bench.asked().filter((line) => line === "POST /token").length;
    await Promise.all([send(), send(), send()]);
    expect(granted()).toBe(1);
    bench.step(54 * 60_000);
    await send();
    expect(granted()).toBe(1);
    bench.step(2 * 60_000);
    await send();
    expect(granted()).toBe(2);
    bench.chat.google.revokeTokens();
    await send({ text: "once" });
    expect(granted()).toBe(3);
    expect(seen().filter(({ text }) => text === "once")).toHaveLength(1);
  });

  test("a key that is not accepted is a final failure, and is in no message", async () => {
    const wrong = bench.chat.google.wrongKey();
    const error = await failure(send({}, { serviceAccount: wrong }));
    expect(error).toMatchObject({ delivery: { state: "failed" }, permanent: true, status: 401 });
    const line = (JSON.parse(wrong) as { private_key: string }).private_key.split("\n")[3]!;
    expect(`${String(error)}${JSON.stringify(error)}`).not.toContain(line);
    expect(String(error)).toMatch(/invalid_grant.*serviceAccount/);
  });

  test("where the token endpoint fails nothing was sent, and it is tried again", async () => {
    for (const fault of [{ status: 503 }, { reset: true, applied: true }, { garbage: true }]) {
      bench.chat.server.faults.add({ on: "/token", ...fault });
      expect(await failure(send())).toMatchObject({ delivery: { state: "retry" } });
    }
    await send();
    expect(seen()).toHaveLength(1);
  });

  test("a clock that is wrong says nothing about the key", async () => {
    const error_description = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.";
    bench.chat.server.faults.add({ on: "/token", status: 400, body: { error: "invalid_grant", error_description } });
    expect(await failure(send())).toMatchObject({ delivery: { state: "retry" }, permanent: false, message: expect.stringContaining("clock") as string });
    await send();
  });

  test("access that is withdrawn for good ends in a final failure", async () => {
    await send();
    bench.chat.google.disable();
    bench.chat.google.revokeTokens();
    expect(await failure(send())).toMatchObject({ delivery: { state: "failed" }, permanent: true });
  });
});

describe("messages", () => {
  test("one whose answer was lost is there once when it is sent again with the same nonce", async () => {
    bench.chat.server.faults.add({ on: POST, reset: true, applied: true });
    expect(await failure(send({ nonce: "oc-1" }))).toMatchObject({ delivery: { state: "unknown" } });
    const again = await send({ nonce: "oc-1" });
    expect(seen().map(({ name }) => name)).toEqual([again.messageId]);
  });

  test("refusals say whether trying again makes sense; each in a row takes longer", async () => {
    bench.chat.server.faults.add({ on: POST, status: 429, body: { error: { status: "RESOURCE_EXHAUSTED" } }, times: 3 });
    const waits: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { delivery } = (await failure(send())) as { delivery: { state: string; retryAfterMs: number } };
      expect(delivery.state).toBe("retry");
      waits.push(delivery.retryAfterMs);
      bench.step(60_000);
    }
    expect(waits).toEqual([1000, 2000, 4000]);
    await send();
    bench.chat.server.faults.add({ on: POST, status: 429, headers: { "retry-after": "90" } });
    expect(await failure(send())).toMatchObject({ delivery: { state: "retry", retryAfterMs: 90_000 } });
    // Messages of other spaces do not wait for this one.
    await send({ to: bench.space.name });
    expect(await failure(send())).toMatchObject({ delivery: { state: "retry" } });
  });

  test("to a space that the app was taken out of, or that is gone, are final failures", async () => {
    bench.space.members.delete(bench.chat.bot.name);
    expect(await failure(send({ to: bench.space.name }))).toMatchObject({ delivery: { state: "failed" }, status: 403, permanent: false });
    expect(await failure(send({ to: "spaces/AAAAgone" }))).toMatchObject({ delivery: { state: "failed" }, status: 404 });
    expect(await failure(send({ to: "somewhere" }))).toMatchObject({ delivery: { state: "failed" }, code: "INVALID_INPUT" });
  });

  test("to people go into their direct message, by id or address; who never wrote cannot be written to", async () => {
    const bob = bench.chat.person("Bob");
    await send({ to: bench.anna.name, text: "by id" });
    await send({ to: "Anna@Example.com", text: "by address" });
    await send({ to: `googlechat:user:${bench.anna.name.slice(6)}`, text: "by prefix" });
    expect(seen().map(({ text }) => text)).toEqual(["by id", "by address", "by prefix"]);
    expect(bench.asked().filter((line) => line.includes("findDirectMessage"))).toHaveLength(2);
    expect(await failure(send({ to: bob.name }))).toMatchObject({
      delivery: { state: "failed" },
      message: expect.stringContaining("write to the app first") as string,
    });
  });

  test("what goes wrong before the message itself leaves no doubt about it", async () => {
    const { faults } = bench.chat.server;
    for (const [on, over] of [
      ["findDirectMessage", { to: bench.anna.name }],
      ["GET /v1/spaces/", { to: bench.space.name, replyToId: `${bench.space.name}/messages/a.b` }],
    ] as const) {
      faults.add({ on, status: 502 });
      expect(await failure(send(over)), on).toMatchObject({ delivery: { state: "retry" } });
      await send({ to: bench.space.name });
    }
  });

  test("answers stay in their thread: the target's, the one that is named, or that of the message they answer", async () => {
    const { chat, anna, space } = bench;
    const root = chat.say(anna, space, "root");
    const other = chat.say(anna, space, "other");
    await send({ to: root.thread, text: "by target" });
    await send({ to: space.name, text: "by id", threadId: root.thread.split("/").at(-1)! });
    await send({ to: space.name, text: "by message", replyToId: other.name });
    await send({ to: space.name, text: "by thread", replyToId: other.thread });
    await send({ to: space.name, text: "gone", replyToId: `${space.name}/messages/gone.gone` });
    await send({ to: space.name, text: "elsewhere", threadId: "spaces/OTHER/threads/x" });
    await send({ to: space.name, text: "new" });
    const threads = Object.fromEntries(seen(space).map(({ text, thread, threadReply }) => [text, threadReply ? thread : "new"]));
    expect(threads).toEqual({
      "by target": root.thread,
      "by id": root.thread,
      "by message": other.thread,
      "by thread": other.thread,
      gone: "new",
      elsewhere: "new",
      new: "new",
    });
  });

  test("Markdown becomes the platform's markup, and nothing in a text notifies people", async () => {
    await send({ text: "**bold** *it* ~~no~~ `code` [site](https://example.com/a) <users/all> <users/123>" });
    expect(seen()[0]!.text).toBe("*bold* _it_ ~no~ `code` <https://example.com/a|site> <\u200Busers/all> <\u200Busers/123>");
  });

  test("markup that would make a text too long is left out", async () => {
    const text = Array.from({ length: 1000 }, (_, n) => `**w${n % 10}** `)
      .join("")
      .trim();
    await send({ text });
    expect(seen()[0]!.text).toBe(Array.from({ length: 1000 }, (_, n) => `w${n % 10}`).join(" "));
    expect(await failure(send({ text: "x".repeat(10_000_000) }))).toMatchObject({ delivery: { state: "failed" }, code: "TOO_LARGE" });
  });
});

describe("files", () => {
  const media = { mediaUrl: `${HERE}openclaw.plugin.json`, mediaLocalRoots: [HERE] };
  const sendFile = (over: Over = {}) => bench.channel.outbound!.sendMedia!(contextOf({ text: "see", ...media, ...over }));

  test("are uploaded first and go with the text; an upload that fails is tried again without a doubt", async () => {
    bench.chat.permitUserActions();
    bench.chat.server.faults.add({ on: "attachments:upload", reset: true, applied: true });
    expect(await failure(sendFile())).toMatchObject({ delivery: { state: "retry" } });
    await sendFile();
    const [message] = seen();
    expect([message!.text, message!.attachment[0]!.contentName]).toEqual(["see", "openclaw.plugin.json"]);
    expect(bench.chat.file(message!.attachment[0]!.resourceName)!.data.toString("utf8")).toContain('"id": "googlechat"');
    expect(await failure(sendFile({ mediaUrl: "/etc/passwd" }))).toMatchObject({ delivery: { state: "failed" } });
  });

  test("that Google does not take from apps are a failure that says so; those with an address go as it", async () => {
    const note = expect.stringMatching(/^openclaw\.plugin\.json: .*user authorization/) as string;
    expect(await failure(sendFile())).toMatchObject({ code: "FILES_NOT_SENT", delivery: { state: "failed", filesNotSent: [note] } });
    expect(seen()).toHaveLength(0);
  });
});

describe("cards", () => {
  test("buttons carry their value to this app; addresses are opened; what an agent made goes along", async () => {
    const buttons = [
      [
        { text: "Yes", callback_data: "/approve 1" },
        { text: "Docs", url: "https://example.com" },
        { text: "Bad", url: "javascript:x" },
      ],
    ];
    const payload = { text: "Pick", channelData: { googlechat: { buttons, card: { header: { title: "Hi" } }, cardsV2: [{ cardId: "mine", card: {} }, 5] } } };
    await bench.channel.outbound!.sendPayload!({ ...contextOf({ text: "Pick" }), payload });
    expect(seen()[0]!.cardsV2).toEqual([
      { cardId: "mine", card: {} },
      { cardId: "card-3", card: { header: { title: "Hi" } } },
      {
        cardId: "openclaw-buttons",
        card: {
          sections: [
            {
              widgets: [
                {
                  buttonList: {
                    buttons: [
                      { text: "Yes", onClick: { action: { function: "openclaw", parameters: [{ key: "openclaw", value: "/approve 1" }] } } },
                      { text: "Docs", onClick: { openLink: { url: "https://example.com" } } },
                    ],
                  },
                },
              ],
            },
          ],
        },
      },
    ]);
  });

  test("of apps that are add-ons name an address", async () => {
    const payload = { text: "Pick", channelData: { googlechat: { buttons: [[{ text: "Yes", value: "y" }]] } } };
    const config = { webhookUrl: "https://claw.example.com/chat" };
    await bench.channel.outbound!.sendPayload!({ ...contextOf({ text: "Pick" }, config), payload });
    expect(JSON.stringify(seen()[0]!.cardsV2)).toContain('"function":"https://claw.example.com/chat"');
  });

  test("that are too large with their text are refused before they are sent", async () => {
    const payload = { text: "x", channelData: { googlechat: { card: { header: { title: "x".repeat(40_000) } } } } };
    expect(await failure(bench.channel.outbound!.sendPayload!({ ...contextOf(), payload }))).toMatchObject({ code: "TOO_LARGE" });
  });
});

test("targets in all their forms", () => {
  const forms: [string, unknown][] = [
    ["spaces/AAAAx-_1", { kind: "space", name: "spaces/AAAAx-_1" }],
    ["space:AAAA", { kind: "space", name: "spaces/AAAA" }],
    ["googlechat:spaces/AAAA", { kind: "space", name: "spaces/AAAA" }],
    ["google-chat:space:AAAA", { kind: "space", name: "spaces/AAAA" }],
    ["gchat:spaces/AAAA/threads/B.c", { kind: "space", name: "spaces/AAAA", thread: "spaces/AAAA/threads/B.c" }],
    ["users/123", { kind: "user", name: "users/123" }],
    ["user:123", { kind: "user", name: "users/123" }],
    ["users/Anna@Example.com", { kind: "user", name: "users/anna@example.com" }],
    ["anna@example.com", { kind: "user", name: "users/anna@example.com" }],
  ];
  for (const [written, target] of forms) expect(parseTarget(written), written).toEqual(target);
  for (const wrong of ["", "anna", "123", "spaces/", "spaces/a b", "spaces/../x", "users/anna", "users/1/2", "https://x.example/spaces/A"])
    expect(() => parseTarget(wrong), wrong).toThrow("is not a Google Chat chat");
  const { messaging } = bench.channel;
  expect([messaging!.normalizeTarget!("gchat:space:AAAA"), messaging!.normalizeTarget!("nobody")]).toEqual(["spaces/AAAA", undefined]);
  const looksLikeId = messaging!.targetResolver!.looksLikeId!;
  expect(["spaces/A", "gchat:users/1", "a@b.example", "workshop"].map((text) => looksLikeId(text))).toEqual([true, true, true, false]);
});

describe("the message tool", () => {
  const on = { reactions: true };
  const act = (action: "react" | "reactions" | "edit" | "delete", params: Record<string, unknown>, config = {}) =>
    bench.channel.actions!.handleAction!({ channel: "googlechat", action, cfg: bench.cfg({ actions: on, ...config }), params });
  const reactionsOf = (name: string) => (bench.chat.world.reactions.get(name) ?? []).map(({ emoji }) => emoji);

  test("reacts, lists reactions, and takes its own away", async () => {
    const { chat, anna, direct } = bench;
    chat.permitUserActions();
    const { name } = chat.say(anna, direct, "hi");
    chat.world.react(anna, name, "👍");
    for (const emoji of ["👍", "🎉"]) await act("react", { messageId: name, emoji });
    expect(reactionsOf(name)).toEqual(["👍", "👍", "🎉"]);
    const { details } = await act("reactions", { messageId: name });
    expect(details).toMatchObject({
      reactions: [
        { emoji: "👍", count: 2 },
        { emoji: "🎉", count: 1, users: [chat.bot.name] },
      ],
    });
    await expect(act("react", { messageId: name, emoji: "🎉", remove: true })).rejects.toThrow("botUser");
    await act("react", { messageId: name, emoji: "🎉", remove: true }, { botUser: chat.bot.name });
    expect(reactionsOf(name)).toEqual(["👍", "👍"]);
    // A message of ours shows who we are.
    await send();
    await act("react", { messageId: name, emoji: "" });
    expect(reactionsOf(name)).toEqual(["👍"]);
    await expect(act("react", { messageId: name, emoji: "thumbsup" })).rejects.toThrow("the emoji itself");
    await expect(act("react", { messageId: "nothing", emoji: "👍" })).rejects.toThrow("is not a Google Chat message");
  });

  test("edits and deletes what the app wrote, in the chat that is meant, and nothing else", async () => {
    const { messageId } = await send();
    const here = { to: bench.direct.name };
    await act("edit", { ...here, messageId, message: "**new**" });
    expect(seen().map(({ text }) => text)).toEqual(["*new*"]);
    await expect(act("edit", { to: bench.space.name, messageId, message: "x" })).rejects.toThrow("there is no message");
    await expect(act("edit", { ...here, messageId, message: " " })).rejects.toThrow("the new text is missing: set message");
    const { name } = bench.chat.say(bench.anna, bench.direct, "mine");
    for (const action of ["edit", "delete"] as const)
      await expect(act(action, { ...here, messageId: name, message: "x" })).rejects.toThrow("is not from this app");
    await act("delete", { ...here, messageId });
    expect(seen()).toEqual([]);
    await expect(act("delete", { ...here, messageId }, { actions: { messages: false } })).rejects.toThrow("channels.googlechat.actions.messages");
  });

  test("says what Google does not permit, and offers it only where the configuration asks for it", async () => {
    const { name } = bench.chat.say(bench.anna, bench.direct, "hi");
    await expect(act("react", { messageId: name, emoji: "👍" })).rejects.toMatchObject({ code: "NOT_PERMITTED" });
    await expect(act("react", { messageId: name, emoji: "👍" }, { actions: {} })).rejects.toThrow("channels.googlechat.actions.reactions");
    const { listActions } = bench.channel.actions!;
    expect([listActions!({ cfg: bench.cfg({ actions: on }) }), listActions!({ cfg: bench.cfg() })]).toEqual([
      ["react", "edit", "delete", "reactions"],
      ["edit", "delete"],
    ]);
    expect(bench.channel.capabilities, "true for a service account").toMatchObject({ reactions: false, media: false, edit: true, unsend: true });
  });
});

test("spaces are found by name, with their members", async () => {
  const { channel, anna, space, chat } = bench;
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  const base = { cfg: bench.cfg({ allowFrom: [anna.name, "anna@example.com"], groups: { [space.name]: {}, "*": {} } }), runtime };
  const resolve = (kind: "user" | "group", ...inputs: string[]) => channel.resolver!.resolveTargets({ ...base, inputs, kind });
  expect(await resolve("group", "Workshop", space.name, "elsewhere")).toMatchObject([{ id: space.name }, { id: space.name }, { resolved: false }]);
  expect(await resolve("user", anna.name, "anna")).toMatchObject([{ resolved: true, id: anna.name }, { resolved: false }]);
  const { directory } = channel;
  for (let n = 0; n < 150; n += 1) chat.space(`more ${n}`, [anna]);
  expect(await directory!.listGroupsLive!({ ...base })).toHaveLength(151);
  expect(await directory!.listGroupMembers!({ ...base, groupId: space.name })).toMatchObject([{ id: anna.name, name: "Anna" }]);
  expect(await directory!.listPeers!(base)).toEqual([{ kind: "user", id: anna.name }]);
  expect(await directory!.listGroups!(base)).toEqual([{ kind: "group", id: space.name }]);
});

import { afterEach, beforeEach, expect, test } from "vitest";
import { createAccounts } from "./account.ts";
import { pressedIn, verifyPress } from "./buttons.ts";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const send = (text: string, more: Record<string, unknown> = {}, config = {}) =>
  bench.channel.outbound!.sendText!({ cfg: bench.cfg(config), to: `user:${bench.anna.id}`, text, ...more });
const posted = () => bench.chat.posts(bench.direct);

test("a message whose answer was lost is there once when it is sent again with the same nonce", async () => {
  bench.chat.server.faults.add({ on: "POST /api/v4/posts", reset: true, applied: true });
  await expect(send("hi", { nonce: "n1" })).rejects.toMatchObject({ delivery: { state: "unknown" } });
  const again = await send("hi", { nonce: "n1" });
  expect(posted().map(({ id }) => id)).toEqual([again.messageId]);
  bench.chat.holdPending(`${bench.chat.bot.id}:n2`);
  await expect(send("saving", { nonce: "n2" })).rejects.toMatchObject({ delivery: { state: "unknown" }, reason: "api.post.deduplicate_create_post.pending" });
  expect(bench.channel.outbound!.nonceWindowMs).toBeLessThan(30_000);
});

test("the first post of a preview has a key: one whose answer was lost is found again, and becomes the answer", async () => {
  const { chat, channel, anna, direct } = bench;
  chat.server.faults.add({ on: "POST /api/v4/posts", reset: true, applied: true });
  const { signal } = new AbortController();
  const preview = channel.preview!.open({ cfg: bench.cfg(), accountId: "default", to: `user:${anna.id}`, chatType: "direct", signal })!;
  await preview.update("the beginning of a longer answer");
  expect(await preview.seal()).toBe(chat.posts(direct)[0]!.id);
  const asked = chat.server.asked.filter(({ path, method }) => method === "POST" && path.endsWith("/posts"));
  const keys = asked.map(({ fields }) => (fields as { pending_post_id?: string }).pending_post_id);
  expect([keys.length, new Set(keys).size, posted().length]).toEqual([2, 1, 1]);
  expect(keys[0]).toMatch(new RegExp(`^${chat.bot.id}:.+`));
});

test("refusals say whether trying again makes sense, and never name the token", async () => {
  const { chat, group } = bench;
  chat.server.faults.add({ on: "/posts", status: 429, body: "limit exceeded", headers: { "retry-after": "90" } });
  await expect(send("slow")).rejects.toMatchObject({ delivery: { state: "retry", retryAfterMs: 90_000 } });
  await expect(send("still paused")).rejects.toMatchObject({ delivery: { state: "retry" } });
  const fresh = await openBench();
  await using _fresh = fresh;
  const outbound = fresh.channel.outbound!;
  const to = `channel:${fresh.group.id}`;
  fresh.chat.leave(fresh.chat.bot, fresh.group);
  await expect(outbound.sendText!({ cfg: fresh.cfg(), to, text: "x" })).rejects.toMatchObject({ delivery: { state: "failed" }, status: 403 });
  fresh.chat.revoke(fresh.chat.token);
  const refused = await outbound.sendText!({ cfg: fresh.cfg(), to, text: "x" }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ delivery: { state: "failed" }, permanent: true });
  expect(JSON.stringify(refused) + String(refused)).not.toContain(fresh.chat.token);
  expect(group.id).toMatch(/^[a-z0-9]{26}$/);
  await expect(outbound.sendText!({ cfg: fresh.cfg(), to: "somewhere", text: "x" })).rejects.toThrow('"somewhere" is not a Mattermost chat');
});

test("answers stay in their thread, also below a message inside of it, and go to the chat where the thread is gone", async () => {
  const { chat, anna, direct } = bench;
  const root = chat.say(anna, direct, "root");
  const reply = chat.say(anna, direct, "reply", { rootId: root.id });
  const inThread = await send("one", { threadId: root.id });
  const below = await send("two", { replyToId: reply.id });
  chat.remove(anna, root);
  const orphan = await send("three", { threadId: root.id });
  const rootOf = (id: string) => posted().find((post) => post.id === id)!.root_id;
  expect([inThread, below, orphan].map(({ messageId }) => rootOf(messageId))).toEqual([root.id, root.id, ""]);
});

test("nobody is notified in crowds, tables follow the setting, and edits are treated alike", async () => {
  await send("@all hi @Channel, @here. @allison stays");
  expect(posted()[0]!.message).toBe("@\u200Ball hi @\u200BChannel, @\u200Bhere. @allison stays");
  const table = "| a | b |\n| --- | --- |\n| 1 | 2 |";
  await send(table);
  await send(table, {}, { markdown: { tables: "off" } });
  expect(
    posted()
      .slice(1)
      .map(({ message }) => message.includes("```")),
  ).toEqual([true, false]);
  const preview = { previewId: posted()[0]!.id, payload: {} };
  await bench.channel.outbound!.editPreview!({ cfg: bench.cfg(), to: `user:${bench.anna.id}`, text: "@all done", ...preview });
  expect(posted()[0]!.message).toBe("@\u200Ball done");
  const gone = { ...preview, previewId: "a".repeat(26) };
  expect(await bench.channel.outbound!.editPreview!({ cfg: bench.cfg(), to: `user:${bench.anna.id}`, text: "x", ...gone })).toBeUndefined();
});

test("an upload that fails is tried again without a doubt", async () => {
  bench.chat.server.faults.add({ on: "POST /api/v4/files", reset: true, applied: true });
  const media = { mediaUrl: new URL("openclaw.plugin.json", import.meta.url).pathname, mediaLocalRoots: [new URL(".", import.meta.url).pathname] };
  const file = (more = {}) => bench.channel.outbound!.sendMedia!({ cfg: bench.cfg(), to: `user:${bench.anna.id}`, text: "see", ...media, ...more });
  await expect(file()).rejects.toMatchObject({ delivery: { state: "retry" } });
  await file();
  expect(posted().map(({ message, file_ids: files }) => [message, files.length])).toEqual([["see", 1]]);
  await file({ mediaUrls: [media.mediaUrl, new URL("package.json", import.meta.url).pathname] });
  expect(posted().at(-1)).toMatchObject({ message: "see", file_ids: [expect.any(String), expect.any(String)] });
  await expect(file({ mediaUrl: "/etc/passwd" })).rejects.toMatchObject({ delivery: { state: "failed" } });
});

test("buttons need an address of the gateway; what they carry is signed for their channel", async () => {
  const { chat, channel, anna } = bench;
  const payload = { text: "Pick", channelData: { mattermost: { buttons: [[{ text: "Yes", callback_data: "/approve 1" }]] } } };
  const cfg = bench.cfg({ interactions: { callbackBaseUrl: "https://claw.example.com/" } });
  const sendTo = (config: typeof cfg) => channel.outbound!.sendPayload!({ cfg: config, to: `user:${anna.id}`, text: "Pick", payload });
  await sendTo(bench.cfg());
  await sendTo(cfg);
  expect(posted().map(({ props }) => props["attachments"] !== undefined)).toEqual([false, true]);
  expect([channel.actions!.supportsButtons!({ cfg: bench.cfg() }), channel.actions!.supportsButtons!({ cfg })]).toEqual([false, true]);
  const sent = chat.server.asked.findLast(({ path }) => path.endsWith("/posts"))!.fields as {
    props: { attachments: { actions: { integration: { url: string; context: object } }[] }[] };
  };
  const { url, context } = sent.props.attachments[0]!.actions[0]!.integration;
  expect(url).toBe("https://claw.example.com/mattermost/interactions/default");
  const account = createAccounts().read(cfg);
  const request = (body: object) => ({ body: Buffer.from(JSON.stringify(body)), headers: {}, path: "/", query: new URLSearchParams() });
  const press = { user_id: anna.id, channel_id: bench.direct.id, post_id: posted()[1]!.id, trigger_id: "t1", context };
  expect(verifyPress(request(press), account).ok).toBe(true);
  expect(pressedIn(request(press))).toMatchObject({ userId: anna.id, value: "/approve 1" });
  const forged: object[] = [
    { ...press, context: { ...context, value: "/approve 2" } },
    { ...press, channel_id: bench.group.id },
    { ...press, context: { value: "/approve 1" } },
    { ...press, context: { ...context, signature: "" } },
    { ...press, trigger_id: "" },
    [],
  ];
  for (const body of forged) expect(verifyPress(request(body), account)).toMatchObject({ ok: false });
  expect(verifyPress(request(press), { ...account, token: "another" })).toMatchObject({ ok: false });
});

test("the message tool reacts by emoji or name, takes reactions away, and can be switched off", async () => {
  const { chat, channel, anna, direct } = bench;
  const post = chat.say(anna, direct, "hi");
  const act = (params: Record<string, unknown>, config = {}) =>
    channel.actions!.handleAction!({ channel: "mattermost", action: "react", cfg: bench.cfg(config), params: { messageId: post.id, ...params } });
  await act({ emoji: "👍" });
  await act({ emoji: ":tada:" });
  expect(chat.reactions(post)).toEqual(["thumbsup", "tada"]);
  await act({ emoji: "tada", remove: true });
  expect(chat.reactions(post)).toEqual(["thumbsup"]);
  await act({ emoji: "" });
  expect(chat.reactions(post)).toEqual([]);
  await expect(act({ emoji: "🦄" })).rejects.toThrow("identifies emoji by name");
  await expect(act({ emoji: "x" }, { actions: { reactions: false } })).rejects.toThrow("channels.mattermost.actions.reactions");
  expect(channel.actions!.listActions!({ cfg: bench.cfg({ actions: { reactions: false } }) })).toEqual(["edit", "delete"]);
});

test("people and channels are found by name", async () => {
  const { channel, chat, anna, group } = bench;
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  const base = { cfg: bench.cfg({ allowFrom: [anna.id, "someone"], groups: { [group.id]: {}, "*": {} } }), runtime };
  const resolve = (kind: "user" | "group", ...inputs: string[]) => channel.resolver!.resolveTargets({ ...base, inputs, kind });
  expect(await resolve("user", "@anna", "nobody")).toMatchObject([{ resolved: true, id: anna.id, name: "Anna" }, { resolved: false }]);
  expect(await resolve("group", "#town-square", "#elsewhere")).toMatchObject([{ resolved: true, id: group.id }, { resolved: false }]);
  const { directory } = channel;
  expect(await directory!.self!(base)).toMatchObject({ id: `user:${chat.bot.id}`, handle: "@clawbot" });
  expect(await directory!.listPeersLive!({ ...base, query: "ann" })).toMatchObject([{ id: `user:${anna.id}` }]);
  expect(await directory!.listGroupsLive!(base)).toMatchObject([{ id: `channel:${group.id}`, handle: "#town-square" }]);
  expect((await directory!.listGroupMembers!({ ...base, groupId: group.id })).map(({ handle }) => handle)).toEqual(["@clawbot", "@anna"]);
  expect(await directory!.listPeers!(base)).toEqual([{ kind: "user", id: `user:${anna.id}` }]);
  expect(await directory!.listGroups!(base)).toEqual([{ kind: "group", id: `channel:${group.id}` }]);
  await channel.outbound!.sendText!({ cfg: base.cfg, to: "@anna", text: "by name" });
  expect(posted().at(-1)!.message).toBe("by name");
});

test("the message tool edits and deletes our own messages in the chat that is meant, and nobody else's", async () => {
  const { chat, channel, anna, direct, group } = bench;
  const { messageId } = await send("first");
  const act = (action: "edit" | "delete", params: object, config = {}) =>
    channel.actions!.handleAction!({ channel: "mattermost", action, cfg: bench.cfg(config), params: { to: `user:${anna.id}`, messageId, ...params } });
  await act("edit", { message: "@all second" });
  expect(posted().map(({ message }) => message)).toEqual(["@\u200Ball second"]);
  const theirs = chat.say(anna, direct, "hers");
  await expect(act("edit", { message: "x", messageId: theirs.id })).rejects.toThrow("is not from this bot");
  await expect(act("delete", { messageId: theirs.id })).rejects.toThrow("is not from this bot");
  await expect(act("delete", { to: `channel:${group.id}` })).rejects.toThrow("in this chat");
  await expect(act("edit", { message: " " })).rejects.toThrow("the new text is missing: set message");
  await expect(act("delete", {}, { actions: { messages: false } })).rejects.toThrow("channels.mattermost.actions.messages");
  await act("delete", {});
  await expect(act("delete", {})).rejects.toThrow("there is no message");
  expect(channel.actions!.listActions!({ cfg: bench.cfg() })).toEqual(["react", "edit", "delete"]);
});

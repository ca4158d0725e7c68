import { Client4, WebSocketClient, type WebSocketMessage } from "@mattermost/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startMattermost, type FakeMattermost } from "./index.ts";

let chat: FakeMattermost;
let client: Client4;
beforeEach(async () => {
  chat = await startMattermost();
  client = new Client4();
  client.setUrl(chat.url);
  client.setToken(chat.token);
});
afterEach(() => chat[Symbol.asyncDispose]());

/** The server's own client on the event socket. */
async function listening(token = chat.token) {
  const socket = new WebSocketClient();
  const messages: WebSocketMessage[] = [];
  socket.addMessageListener((message) => void messages.push(message));
  socket.initialize(`${chat.url.replace("http", "ws")}/api/v4/websocket`, token);
  await expect.poll(() => messages.length).toBe(1);
  return { socket, messages, [Symbol.dispose]: () => socket.close() };
}

test("the official client posts, edits, reacts, uploads, downloads and reads back", async () => {
  const anna = chat.person({ username: "anna" });
  const { id: channelId, type } = await client.createDirectChannel([chat.bot.id, anna.id]);
  expect(type).toBe("D");
  const form = new FormData();
  form.append("channel_id", channelId);
  form.append("files", new Blob(["hello"], { type: "text/plain" }), "note.txt");
  const { file_infos: files } = await client.uploadFile(form);
  const post = await client.createPost({ channel_id: channelId, message: "one", file_ids: [files[0]!.id] });
  await client.patchPost({ id: post.id, message: "two" });
  await client.addReaction(chat.bot.id, post.id, "eyes");
  const { posts } = await client.getPostsSince(channelId, post.create_at - 1);
  expect(posts[post.id]).toMatchObject({ message: "two", user_id: chat.bot.id });
  // The earlier text is there as well, as a row that points to its post.
  expect(Object.values(posts).filter(({ original_id: original }) => original === post.id)).toMatchObject([{ message: "one" }]);
  expect(chat.reactions(chat.posts(chat.direct(anna))[0]!)).toEqual(["eyes"]);
});

test("the official client hears of posts, in order and numbered", async () => {
  const anna = chat.person({ username: "anna" });
  using heard = await listening();
  const post = chat.say(anna, chat.direct(anna), `@${chat.bot.username} hi`);
  chat.edit(anna, post, "hello");
  chat.react(anna, post, "eyes");
  await expect.poll(() => heard.messages.map(({ event }) => event)).toEqual(["hello", "posted", "post_edited", "reaction_added"]);
  expect(heard.messages.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
  const [, posted] = heard.messages as unknown as readonly { readonly data: Readonly<Record<string, string>> }[];
  expect(JSON.parse(posted!.data["post"]!)).toMatchObject({ id: post.id, message: "@clawbot hi" });
  expect(JSON.parse(posted!.data["mentions"]!)).toEqual([chat.bot.id]);
});

const post = async (body: object, token = chat.token): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> => {
  const response = await fetch(`${chat.url}/api/v4/posts`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
};

test("posts that the server would refuse are refused, with its error ids", async () => {
  const anna = chat.person({ username: "anna" });
  const channel = chat.direct(anna);
  const other = chat.channel({ name: "other", members: [anna] });
  const root = chat.say(anna, channel, "root");
  const reply = chat.say(anna, channel, "reply", { rootId: root.id });
  const cases: [object, number, string][] = [
    [{ channel_id: "nope", message: "x" }, 400, "api.context.invalid_body_param.app_error"],
    [{ id: root.id, channel_id: channel.id, message: "x" }, 400, "api.context.invalid_body_param.app_error"],
    [{ channel_id: channel.id, message: "é".repeat(16_384) }, 400, "model.post.is_valid.message_length.app_error"],
    [{ channel_id: channel.id, message: "x", root_id: reply.id }, 400, "api.post.create_post.root_id.app_error"],
    [{ channel_id: other.id, message: "x", root_id: root.id }, 400, "api.post.create_post.channel_root_id.app_error"],
    [{ channel_id: channel.id, message: "x", file_ids: Array.from({ length: 11 }, () => root.id) }, 400, "model.post.is_valid.file_ids.app_error"],
  ];
  for (const [body, status, id] of cases) expect(await post(body)).toMatchObject({ status, body: { id, status_code: status } });
  expect(await post({ channel_id: channel.id, message: "🎉".repeat(16_383) })).toMatchObject({ status: 201 });
  expect(await post({ channel_id: channel.id, message: "x" }, "no-token")).toMatchObject({ status: 401 });
});

test("a pending id makes one post in 30 s, and a new one after that", async () => {
  const anna = chat.person({ username: "anna" });
  const draft = { channel_id: chat.direct(anna).id, message: "once", pending_post_id: "p1" };
  const first = await post(draft);
  expect(await post(draft)).toMatchObject({ status: 201, body: { id: first.body["id"], pending_post_id: "" } });
  chat.holdPending("p2");
  expect(await post({ ...draft, pending_post_id: "p2" })).toMatchObject({ status: 500, body: { id: "api.post.deduplicate_create_post.pending" } });
  chat.step(30_001);
  expect((await post(draft)).body["id"]).not.toBe(first.body["id"]);
  expect(chat.posts(chat.direct(anna))).toHaveLength(2);
});

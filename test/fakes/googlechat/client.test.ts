/** The fake against Google's own client library, which knows nothing of ours. */
import { Readable } from "node:stream";
import { auth, chat as chatClient, type chat_v1 } from "@googleapis/chat";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startFakeServer } from "../../../src/plugin-testing/index.ts";
import { CHAT, type FakeGoogleChat, signingKey, type Space, startGoogleChat, type User } from "./index.ts";

let chat: FakeGoogleChat;
let api: chat_v1.Chat;
let anna: User;
let space: Space;
beforeEach(async () => {
  chat = await startGoogleChat();
  api = clientOf(signIn());
  anna = chat.person("Anna", "anna@example.com");
  space = chat.space("workshop", [anna]);
});
afterEach(() => chat[Symbol.asyncDispose]());

interface KeyFile {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id: string;
}

/** The library's sign-in with a service account. Its token endpoint cannot be configured: only that host is replaced. */
function signIn(account = chat.google.serviceAccount, scopes = ["https://www.googleapis.com/auth/chat.bot"]) {
  const { client_email: email, private_key: key, private_key_id: keyId } = JSON.parse(account) as KeyFile;
  const client = new auth.JWT({ email, key, keyId, scopes });
  client.transporter.interceptors.request.add({
    resolved(config) {
      if (config.url.href === "https://oauth2.googleapis.com/token") config.url = new URL("/token", chat.url);
      return Promise.resolve(config);
    },
  });
  return client;
}

const clientOf = (client: ReturnType<typeof signIn>): chat_v1.Chat => chatClient({ version: "v1", auth: client, rootUrl: `${chat.url}/`, retry: false });
const refusal = (status: number, message: string | RegExp): object => ({ status, message: expect.stringMatching(message) as string });
const grants = (): number => chat.server.asked.filter(({ path }) => path === "/token").length;

describe("the official client", () => {
  test("exchanges an assertion of the service account for a token that serves until it is revoked", async () => {
    await api.spaces.list();
    await api.spaces.list();
    expect(grants()).toBe(1);
    chat.google.revokeTokens();
    await expect(api.spaces.list()).rejects.toMatchObject(refusal(401, "invalid authentication credentials"));
    expect((await clientOf(signIn()).spaces.list()).status).toBe(200);
    expect(grants()).toBe(2);
  });

  test("signs in with a token of an hour", async () => {
    const before = Date.now();
    const { access_token: token, expiry_date: expiry, token_type: type } = await signIn().authorize();
    expect([typeof token, type]).toEqual(["string", "Bearer"]);
    expect(expiry! - before).toBeGreaterThan(3_500_000);
    expect(expiry! - Date.now()).toBeLessThanOrEqual(3_600_000);
  });

  test("is refused a token for a key, a scope or an account that is not accepted", async () => {
    await expect(signIn(chat.google.wrongKey()).authorize()).rejects.toThrow("invalid_grant: Invalid JWT Signature.");
    await expect(signIn(undefined, ["https://www.googleapis.com/auth/drive"]).authorize()).rejects.toThrow("invalid_scope");
    chat.google.disable();
    await expect(signIn().authorize()).rejects.toThrow("invalid_grant: Invalid grant: account not found");
    const stranger = chatClient({ version: "v1", rootUrl: `${chat.url}/`, retry: false });
    await expect(stranger.spaces.list()).rejects.toMatchObject(refusal(401, /invalid authentication credentials/));
  });

  test("creates, reads, patches, replaces and deletes messages", async () => {
    const { data: made } = await api.spaces.messages.create({ parent: space.name, messageId: "client-a1", requestBody: { text: "one" } });
    expect(made).toMatchObject({
      text: "one",
      sender: { name: chat.bot.name, type: "BOT" },
      clientAssignedMessageId: "client-a1",
      space: { name: space.name },
    });
    expect(made.lastUpdateTime).toBeUndefined();
    const cardsV2 = [{ cardId: "c1", card: { header: { title: "Card" } } }];
    const { data: patched } = await api.spaces.messages.patch({ name: made.name!, updateMask: "text,cardsV2", requestBody: { text: "two", cardsV2 } });
    expect(patched).toMatchObject({ name: made.name, text: "two", cardsV2 });
    expect(Date.parse(patched.lastUpdateTime!)).toBeGreaterThanOrEqual(Date.parse(made.createTime!));
    const chosen = `${space.name}/messages/client-a1`;
    expect((await api.spaces.messages.update({ name: chosen, updateMask: "text", requestBody: { text: "three" } })).data.name).toBe(made.name);
    expect((await api.spaces.messages.get({ name: made.name! })).data).toMatchObject({ text: "three", cardsV2 });
    expect((await api.spaces.messages.delete({ name: made.name! })).data).toEqual({});
    await expect(api.spaces.messages.get({ name: made.name! })).rejects.toMatchObject(refusal(404, "not found"));
    expect(chat.messages(space)).toEqual([]);
  });

  test("has one message for one request id, and replies in the thread that it names", async () => {
    const create = async (text: string, more: object = {}, thread?: string) => {
      const requestBody = { text, ...(thread === undefined ? {} : { thread: { name: thread } }) };
      return (await api.spaces.messages.create({ parent: space.name, requestBody, ...more })).data;
    };
    const root = await create("root", { requestId: "r1" });
    expect((await create("root", { requestId: "r1" })).name).toBe(root.name);
    const thread = root.thread!.name!;
    const reply = await create("reply", { messageReplyOption: "REPLY_MESSAGE_OR_FAIL" }, thread);
    expect(reply).toMatchObject({ thread: { name: thread }, threadReply: true });
    expect((await create("elsewhere", {}, thread)).thread!.name).not.toBe(thread);
    const gone = `${space.name}/threads/gone`;
    await expect(create("x", { messageReplyOption: "REPLY_MESSAGE_OR_FAIL" }, gone)).rejects.toMatchObject(refusal(404, "Thread"));
    expect((await create("new", { messageReplyOption: "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD" }, gone)).threadReply).toBeUndefined();
    expect(chat.messages(space).map(({ text }) => text)).toEqual(["root", "reply", "elsewhere", "new"]);
  });

  test("gets refusals as its own errors, with the words of the platform", async () => {
    const create = (parent: string, text: string, more: object = {}) => api.spaces.messages.create({ parent, requestBody: { text }, ...more });
    await expect(create(space.name, "x".repeat(4097))).rejects.toMatchObject({
      ...refusal(400, "too long"),
      response: { data: { error: { status: "INVALID_ARGUMENT" } } },
    });
    await expect(create(space.name, "")).rejects.toMatchObject(refusal(400, "empty"));
    await expect(create("spaces/none", "x")).rejects.toMatchObject({ ...refusal(404, "not found"), response: { data: { error: { status: "NOT_FOUND" } } } });
    await create(space.name, "a", { messageId: "client-a" });
    await expect(create(space.name, "a", { messageId: "client-a" })).rejects.toMatchObject(refusal(409, "already exists"));
    const { name } = chat.say(anna, space, "hers");
    await expect(api.spaces.messages.patch({ name, updateMask: "text", requestBody: { text: "x" } })).rejects.toMatchObject(refusal(403, "own messages"));
    await expect(api.spaces.messages.delete({ name })).rejects.toMatchObject(refusal(403, "own messages"));
    chat.limitRate(600_000);
    await create(space.name, "first");
    await expect(create(space.name, "too early")).rejects.toMatchObject(refusal(429, "exhausted"));
  });

  test("reads the messages of a space, newest first when it wants, with the authorization of a user", async () => {
    for (const text of ["a", "b", "c"]) chat.say(anna, space, text);
    await expect(api.spaces.messages.list({ parent: space.name })).rejects.toMatchObject(refusal(403, "scopes"));
    chat.permitUserActions();
    const first = await api.spaces.messages.list({ parent: space.name, pageSize: 2, orderBy: "createTime desc" });
    expect(first.data.messages!.map(({ text }) => text)).toEqual(["c", "b"]);
    const pageToken = first.data.nextPageToken!;
    const second = await api.spaces.messages.list({ parent: space.name, pageSize: 2, orderBy: "createTime desc", pageToken });
    expect([second.data.messages!.map(({ text }) => text), second.data.nextPageToken]).toEqual([["a"], undefined]);
  });

  test("reacts with the authorization of a user, lists reactions and takes one back", async () => {
    const { name: parent } = chat.say(anna, space, "look");
    const react = (unicode: string) => api.spaces.messages.reactions.create({ parent, requestBody: { emoji: { unicode } } });
    await expect(react("👀")).rejects.toMatchObject(refusal(403, "scopes"));
    chat.permitUserActions();
    const { data: made } = await react("👀");
    expect(made).toMatchObject({ emoji: { unicode: "👀" }, user: { name: chat.bot.name } });
    await react("👍");
    await expect(react("eyes")).rejects.toMatchObject(refusal(400, "emoji"));
    await api.spaces.messages.reactions.delete({ name: made.name! });
    const { data } = await api.spaces.messages.reactions.list({ parent });
    expect(data.reactions!.map(({ emoji }) => emoji!.unicode)).toEqual(["👍"]);
  });

  test("uploads a file, attaches it, and downloads its bytes by the name in the message", async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 45, 45, 13, 10]);
    const upload = () =>
      // The root of uploads is an option of the request.
      api.media.upload(
        { parent: space.name, requestBody: { filename: "raw bytes.bin" }, media: { mimeType: "image/png", body: Readable.from([bytes]) } },
        { rootUrl: `${chat.url}/` },
      );
    await expect(upload()).rejects.toMatchObject(refusal(403, "scopes"));
    chat.permitUserActions();
    const { attachmentDataRef } = (await upload()).data;
    const { data: message } = await api.spaces.messages.create({
      parent: space.name,
      requestBody: { text: "see", attachment: [{ attachmentDataRef: attachmentDataRef! }] },
    });
    const [file] = message.attachment!;
    expect(file).toMatchObject({ contentName: "raw bytes.bin", contentType: "image/png", source: "UPLOADED_CONTENT" });
    expect(file!.name).toMatch(new RegExp(`^${message.name}/attachments/.`));
    expect((await api.spaces.messages.attachments.get({ name: file!.name! })).data).toEqual(file);
    const resourceName = file!.attachmentDataRef!.resourceName!;
    const { data } = await api.media.download({ resourceName, alt: "media" }, { responseType: "arraybuffer" });
    expect([...new Uint8Array(data as unknown as ArrayBuffer)]).toEqual([...bytes]);
    await expect(api.media.download({ resourceName: `${space.name}/attachments/none`, alt: "media" })).rejects.toMatchObject(refusal(404, "Attachment"));
  });

  test("finds spaces and their people page by page; apps are members that only users see", async () => {
    for (const name of ["one", "two", "three", "four"]) chat.space(name, [anna]);
    const found: unknown[] = [];
    const sizes: number[] = [];
    for (let pageToken: string | undefined; ;) {
      const { data } = await api.spaces.list({ pageSize: 2, ...(pageToken === undefined ? {} : { pageToken }) });
      sizes.push(data.spaces!.length);
      found.push(...data.spaces!.map(({ displayName }) => displayName));
      pageToken = data.nextPageToken ?? undefined;
      if (pageToken === undefined) break;
    }
    expect([found, sizes]).toEqual([
      ["workshop", "one", "two", "three", "four"],
      [2, 2, 1],
    ]);
    await expect(api.spaces.list({ pageToken: "2" })).rejects.toMatchObject(refusal(400, "page_token"));
    expect((await api.spaces.get({ name: space.name })).data).toMatchObject({ displayName: "workshop", spaceType: "SPACE" });
    const members = async () => (await api.spaces.members.list({ parent: space.name })).data.memberships!.map(({ member }) => member!.name);
    expect(await members()).toEqual([anna.name]);
    chat.permitUserActions();
    expect(await members()).toEqual([chat.bot.name, anna.name]);
    await expect(api.spaces.findDirectMessage({ name: anna.name })).rejects.toMatchObject(refusal(404, "not found"));
    const direct = chat.direct(anna);
    expect((await api.spaces.findDirectMessage({ name: "users/anna@example.com" })).data).toMatchObject({ name: direct.name, spaceType: "DIRECT_MESSAGE" });
  });
});

describe("tokens of the webhook, verified by the official library", () => {
  const verifier = () => new auth.OAuth2({ endpoints: { oauth2FederatedSignonPemCertsUrl: `${chat.url}/oauth2/v1/certs` } });
  const certificates = async () => (await (await fetch(`${chat.url}/service_accounts/v1/metadata/x509/${CHAT}`)).json()) as Record<string, string>;
  const byProject = async (token: string) => verifier().verifySignedJwtWithCertsAsync(token, await certificates(), "123456789012", [CHAT]);

  test("come with events, of a project or for an address", async () => {
    const tokens: string[] = [];
    await using app = await startFakeServer({
      handle({ headers }) {
        tokens.push((headers.authorization ?? "").replace("Bearer ", ""));
        return { body: {} };
      },
    });
    chat.postTo(() => app.url);
    chat.say(anna, chat.direct(anna), "hi");
    await expect.poll(() => tokens.length).toBe(1);
    expect((await byProject(tokens[0]!)).getPayload()).toMatchObject({ iss: CHAT, aud: "123456789012" });
    const audience = "https://claw.example.com/googlechat";
    chat.google.setAudience("app-url", audience);
    chat.say(anna, chat.direct(anna), "hi again");
    await expect.poll(() => tokens.length).toBe(2);
    const ticket = await verifier().verifyIdToken({ idToken: tokens[1]!, audience });
    expect(ticket.getPayload()).toMatchObject({ iss: "https://accounts.google.com", email: CHAT, email_verified: true });
  });

  test("are refused with another audience, issuer or key, or out of their time", async () => {
    const { google } = chat;
    const now = Math.floor(Date.now() / 1000);
    await expect(byProject(google.tokenFor({ claims: { aud: "999" } }))).rejects.toThrow("Wrong recipient");
    await expect(byProject(google.tokenFor({ claims: { iss: "someone@example.com" } }))).rejects.toThrow("Invalid issuer");
    await expect(byProject(google.tokenFor({ claims: { iat: now - 7200, exp: now - 3600 } }))).rejects.toThrow("Token used too late");
    await expect(byProject(google.tokenFor({ claims: { iat: now + 3600, exp: now + 7200 } }))).rejects.toThrow("Token used too early");
    const { id } = google.keys["project-number"];
    await expect(byProject(google.tokenFor({ key: signingKey(id, 2) }))).rejects.toThrow("Invalid token signature");
    const before = google.tokenFor();
    google.rotate();
    await expect(byProject(before)).rejects.toThrow("No pem found");
    expect((await byProject(google.tokenFor())).getPayload()).toMatchObject({ iss: CHAT });
    google.setAudience("app-url", "https://claw.example.com/googlechat");
    await expect(verifier().verifyIdToken({ idToken: google.tokenFor(), audience: "https://other.example.com" })).rejects.toThrow("Wrong recipient");
  });
});

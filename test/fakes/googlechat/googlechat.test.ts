import { createPublicKey, verify, X509Certificate } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { signJwt } from "../../../plugins/googlechat/tokens.ts";
import { readServiceAccount } from "../../../plugins/googlechat/account.ts";
import { CHAT, type FakeGoogleChat, type Space, startGoogleChat, type User } from "./index.ts";

let chat: FakeGoogleChat;
let anna: User;
let space: Space;
beforeEach(async () => {
  chat = await startGoogleChat();
  anna = chat.person("Anna");
  space = chat.space("workshop", [anna]);
});
afterEach(() => chat[Symbol.asyncDispose]());

type Fields = Record<string, unknown>;

async function grant(claims: object = {}): Promise<{ readonly status: number; readonly body: Fields }> {
  const key = readServiceAccount(chat.google.serviceAccount);
  if (typeof key === "string") throw new Error(key);
  const iat = Math.floor(Date.now() / 1000);
  const scope = "https://www.googleapis.com/auth/chat.bot";
  const assertion = signJwt({ iss: chat.google.email, aud: `${chat.url}/token`, scope, iat, exp: iat + 3600, ...claims }, key);
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const response = await fetch(`${chat.url}/token`, { method: "POST", body: form });
  return { status: response.status, body: (await response.json()) as Fields };
}

async function ask(method: string, path: string, json?: object): Promise<{ readonly status: number; readonly body: Fields }> {
  const { body } = await grant();
  const headers = { authorization: `Bearer ${String(body["access_token"])}`, "content-type": "application/json" };
  const response = await fetch(`${chat.url}${path}`, { method, headers, ...(json ? { body: JSON.stringify(json) } : {}) });
  return { status: response.status, body: (await response.json()) as Fields };
}

test("an assertion is checked before a token is granted, and requests need one", async () => {
  expect(await grant()).toMatchObject({ status: 200, body: { token_type: "Bearer" } });
  for (const claims of [
    { iss: "x@y" },
    { aud: "https://elsewhere.example/token" },
    { exp: 1 },
    { scope: "other" },
    { exp: Math.floor(Date.now() / 1000) + 90_000 },
  ])
    expect((await grant(claims)).status, JSON.stringify(claims)).toBe(400);
  expect((await fetch(`${chat.url}/v1/spaces`)).status).toBe(401);
});

test("keys are published as certificates and as web keys, and verify what is posted", async () => {
  const parts = (token: string) => token.split(".") as [string, string, string];
  const certificates = (await (await fetch(`${chat.url}/service_accounts/v1/metadata/x509/${CHAT}`)).json()) as Record<string, string>;
  const [head, claims, signature] = parts(chat.google.tokenFor());
  const { kid } = JSON.parse(Buffer.from(head, "base64url").toString("utf8")) as { kid: string };
  const certificate = new X509Certificate(certificates[kid]!);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(verify("RSA-SHA256", Buffer.from(`${head}.${claims}`), certificate.publicKey, Buffer.from(signature, "base64url"))).toBe(true);
  chat.google.setAudience("app-url", "https://claw.example.com/googlechat");
  const [idHead, idClaims, idSignature] = parts(chat.google.tokenFor());
  const { keys } = (await (await fetch(`${chat.url}/oauth2/v3/certs`)).json()) as { keys: Fields[] };
  const key = createPublicKey({ key: keys[0]!, format: "jwk" });
  expect(verify("RSA-SHA256", Buffer.from(`${idHead}.${idClaims}`), key, Buffer.from(idSignature, "base64url"))).toBe(true);
});

test("a request id gives the message that was made with it; a chosen name is taken once and leads to the message", async () => {
  const path = `/v1/${space.name}/messages`;
  const first = await ask("POST", `${path}?requestId=r1`, { text: "one" });
  expect((await ask("POST", `${path}?requestId=r1`, { text: "one" })).body["name"]).toBe(first.body["name"]);
  expect((await ask("POST", `${path}?messageId=client-a1`, { text: "two" })).status).toBe(200);
  expect((await ask("POST", `${path}?messageId=client-a1`, { text: "two" })).status).toBe(409);
  expect((await ask("POST", `${path}?messageId=Mine`, { text: "x" })).status).toBe(400);
  expect((await ask("PATCH", `${path}/client-a1?updateMask=text`, { text: "changed" })).body["text"]).toBe("changed");
  expect((await ask("PATCH", `${path}/client-a1`, { text: "x" })).status).toBe(400);
  await ask("DELETE", `${path}/client-a1`);
  expect((await ask("GET", `${path}/client-a1`)).status).toBe(404);
  expect(chat.messages(space).map(({ text }) => text)).toEqual(["one"]);
});

test("a thread counts only with the option for it; what is too long, empty or not ours is refused", async () => {
  const root = chat.say(anna, space, "root");
  const path = `/v1/${space.name}/messages`;
  const post = async (query: string, thread: string) => ask("POST", `${path}${query}`, { text: "x", thread: { name: thread } });
  const threadOf = ({ body }: { body: Fields }) => (body["thread"] as { name: string }).name;
  expect(threadOf(await post("", root.thread))).not.toBe(root.thread);
  expect(threadOf(await post("?messageReplyOption=REPLY_MESSAGE_OR_FAIL", root.thread))).toBe(root.thread);
  const gone = `${space.name}/threads/gone`;
  expect((await post("?messageReplyOption=REPLY_MESSAGE_OR_FAIL", gone)).status).toBe(404);
  expect((await post("?messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD", gone)).status).toBe(200);
  expect((await ask("POST", path, { text: "x".repeat(4097) })).status).toBe(400);
  expect((await ask("POST", path, { cardsV2: [{ card: { name: "x".repeat(32_000) } }] })).status).toBe(400);
  expect((await ask("POST", path, {})).status).toBe(400);
  expect((await ask("PATCH", `/v1/${root.name}?updateMask=text`, { text: "x" })).status).toBe(403);
  expect((await ask("POST", "/v1/spaces/none/messages", { text: "x" })).status).toBe(404);
});

test("files and reactions take the authorization of a user", async () => {
  const { name } = chat.say(anna, space, "hi");
  const react = () => ask("POST", `/v1/${name}/reactions`, { emoji: { unicode: "👍" } });
  expect((await react()).status).toBe(403);
  expect((await ask("POST", `/upload/v1/${space.name}/attachments:upload?uploadType=multipart`)).status).toBe(403);
  chat.permitUserActions();
  expect((await react()).status).toBe(200);
  expect((await ask("GET", `/v1/${name}/reactions`)).body["reactions"]).toHaveLength(1);
});

test("messages in spaces are posted only when they name the app", async () => {
  const { startFakeServer } = await import("../../../src/plugin-testing/index.ts");
  const posted: string[] = [];
  await using app = await startFakeServer({
    handle({ fields }) {
      posted.push(String((fields["message"] as Fields)["text"]));
      return { body: {} };
    },
  });
  chat.postTo(() => app.url);
  chat.say(anna, space, "to people");
  chat.say(anna, space, "to the app", { mention: true });
  chat.say(anna, chat.direct(anna), "direct");
  await expect.poll(() => posted.toSorted()).toEqual(["@Claw to the app", "direct"]);
});

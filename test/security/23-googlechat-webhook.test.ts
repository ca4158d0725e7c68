/** The webhook of Google Chat: only what Google signed for this app counts, once, and only from those who are let in. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { CHAT, signingKey, startGoogleChat, type FakeGoogleChat, type Message, type Space, type TokenFacts, type User } from "../fakes/googlechat/index.ts";
import { freePort } from "../harness/free-port.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const PROJECT = "123456789012";
const ADDRESS = "https://claw.example.com/googlechat";
const OTHER_ADDRESS = "https://claw.example.com/googlechat?other";

let chat: FakeGoogleChat;
let gateway: LabGateway;
let anna: User;
let mallory: User;
let space: Space;

const allowed = () => ({
  dm: { policy: "allowlist", allowFrom: [anna.name] },
  groupPolicy: "allowlist",
  groups: { [space.name]: { requireMention: false, users: [anna.name] } },
});

beforeAll(async () => {
  chat = await startGoogleChat();
  anna = chat.person("Anna");
  mallory = chat.person("Mallory");
  for (const person of [anna, mallory]) chat.direct(person);
  space = chat.space("workshop", [anna, mallory]);
  const { serviceAccount } = chat.google;
  gateway = await startLabGateway({
    sections: {
      channels: {
        googlechat: {
          serviceAccount,
          typingIndicator: "none",
          ...allowed(),
          accounts: {
            number: { audienceType: "project-number", audience: PROJECT },
            address: { audienceType: "app-url", audience: ADDRESS },
            // Two accounts for the same audience: nobody can tell whose request it is.
            twin: { audienceType: "app-url", audience: OTHER_ADDRESS },
            twin2: { audienceType: "app-url", audience: OTHER_ADDRESS },
          },
        },
      },
    },
    env: { OPENCLAW_TEST_GOOGLECHAT_API_ROOT: chat.url },
  });
  chat.google.setAudience("project-number", PROJECT);
  chat.postTo(address);
  chat.postAll();
  await isUp();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await chat?.[Symbol.asyncDispose]();
});

const address = (): string | undefined => (gateway.isRunning() ? `${gateway.url.replace(/^ws/, "http")}/googlechat` : undefined);
const isUp = (): Promise<void> => vi.waitFor(async () => expect((await gateway.account("googlechat", "number"))?.connected).toBe(true), PATIENCE);
const asked = (word: string): number => gateway.model.requests.filter(({ user }) => user.includes(word)).length;
const answered = (word: string, where = chat.direct(anna)): number =>
  chat.messages(where).filter(({ sender, text }) => sender === chat.bot && text.includes(word)).length;
const seconds = (): number => Math.floor(Date.now() / 1000);

/** A message that the platform knows, and did not post. */
function written(text: string, by = anna, where = chat.direct(anna)): Message {
  return chat.world.create(by, where.name, { text });
}
const bodyOf = (text: string): string => JSON.stringify(chat.messageEvent(written(text)));

/** Posts it with a token of the app's audience, or with any other header. */
function post(body: string, facts?: TokenFacts | { readonly authorization: string | undefined }): Promise<number> {
  return chat.post(body, facts);
}

test("23: an event that Google signed is answered once; its replay starts nothing, with the same token or another, also after a restart", async () => {
  const body = bodyOf("say w-once");
  const authorization = `Bearer ${chat.google.tokenFor()}`;
  expect(await post(body, { authorization })).toBe(200);
  await expect.poll(() => answered("w-once"), PATIENCE).toBe(1);
  for (const form of [authorization, authorization.replace("Bearer ", "bearer  ")]) expect(await post(body, { authorization: form })).toBe(200);
  for (const form of [`${authorization}=`, `${authorization.slice(0, -1)}${authorization.endsWith("A") ? "B" : "A"}`])
    expect(await post(body, { authorization: form })).toBe(401);
  expect(await post(body)).toBe(200);
  await gateway.kill();
  await gateway.start();
  await isUp();
  // Nothing of the guard in memory is left: the inbox knows the message.
  expect(await post(body, { authorization })).toBe(200);
  await gateway.aside();
  expect([asked("w-once"), answered("w-once")]).toEqual([1, 1]);
});

test("23: one token may carry several events", async () => {
  const authorization = `Bearer ${chat.google.tokenFor()}`;
  for (const word of ["w-first", "w-second"]) expect(await post(bodyOf(`say ${word}`), { authorization })).toBe(200);
  await expect.poll(() => [answered("w-first"), answered("w-second")], PATIENCE).toEqual([1, 1]);
});

test("23: what Google did not sign for this app is refused, and starts nothing", async () => {
  const body = bodyOf("say w-forged");
  const { keys } = chat.google;
  const [head, claims, signature] = chat.google.tokenFor().split(".") as [string, string, string];
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
  const noneWithKey = Buffer.from(JSON.stringify({ alg: "none", kid: keys["project-number"].id })).toString("base64url");
  const hmacHead = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT", kid: keys["project-number"].id })).toString("base64url");
  const hmac = createHmac("sha256", keys["project-number"].publicPem).update(`${hmacHead}.${claims}`).digest("base64url");
  const forged: Readonly<Record<string, string | undefined>> = {
    "missing header": undefined,
    "empty header": "",
    "no token": "Bearer",
    "other scheme": `Basic ${head}.${claims}.${signature}`,
    "alg none": `Bearer ${none}.${claims}.`,
    "alg none with a key": `Bearer ${noneWithKey}.${claims}.${signature}`,
    "HS256 with the public key": `Bearer ${hmacHead}.${claims}.${hmac}`,
    "no signature": `Bearer ${head}.${claims}.`,
    "signature of other claims": `Bearer ${head}.${Buffer.from(JSON.stringify({ iss: CHAT, aud: PROJECT, iat: 0, exp: 9e9 })).toString("base64url")}.${signature}`,
    "not a token": "Bearer x.y.z",
  };
  for (const [name, authorization] of Object.entries(forged)) expect(await post(body, { authorization }), name).toBe(401);
  const wrong: Readonly<Record<string, TokenFacts>> = {
    "wrong signature": { key: signingKey(keys["project-number"].id, 5) },
    "unknown kid": { key: signingKey("made-up", 1) },
    "a key of the other kind": { key: keys["app-url"] },
    "wrong audience": { claims: { aud: "210987654321" } },
    "several audiences": { claims: { aud: [PROJECT] } },
    "wrong issuer": { claims: { iss: "accounts.google.com" } },
    "no issuer": { claims: { iss: undefined } },
    expired: { claims: { iat: seconds() - 7200, exp: seconds() - 3600 } },
    future: { claims: { iat: seconds() + 3600, exp: seconds() + 7200 } },
    endless: { claims: { exp: seconds() + 10 * 86_400 } },
    "no expiry": { claims: { exp: undefined } },
  };
  for (const [name, facts] of Object.entries(wrong)) expect(await post(body, facts), name).toBe(401);
  await gateway.aside();
  expect(asked("w-forged")).toBe(0);
});

test("23: ID tokens count for their own account only, from Google Chat only, and not where two accounts would take them", async () => {
  const body = bodyOf("say w-address");
  chat.google.setAudience("app-url", ADDRESS);
  try {
    const wrong: readonly TokenFacts[] = [
      { claims: { email: "mallory@example.com" } },
      { claims: { email_verified: false } },
      { claims: { iss: CHAT } },
      { claims: { aud: PROJECT } },
      { claims: { aud: `${ADDRESS}/` } },
      { claims: { aud: OTHER_ADDRESS } },
      { key: chat.google.keys["project-number"] },
    ];
    for (const facts of wrong) expect(await post(body, facts), JSON.stringify(facts.claims)).toBe(401);
    await gateway.aside();
    expect(asked("w-address")).toBe(0);
    expect(await post(body)).toBe(200);
    await expect.poll(() => answered("w-address"), PATIENCE).toBe(1);
    const token = chat.google.tokenFor({ claims: { email: `service-${PROJECT}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com` } });
    const inBody = { ...chat.messageEvent(written("say w-addon")), authorizationEventObject: { systemIdToken: token } };
    expect(await post(JSON.stringify(inBody), { authorization: undefined })).toBe(200);
    await expect.poll(() => answered("w-addon"), PATIENCE).toBe(1);
  } finally {
    chat.google.setAudience("project-number", PROJECT);
  }
});

test("23: bodies that are too large or make no sense, and other methods, start nothing", async () => {
  const huge = JSON.stringify({ ...chat.messageEvent(written("say w-huge")), padding: "x".repeat(1024 * 1024) });
  expect([413, 0]).toContain(await post(huge));
  expect([413, 0]).toContain(await post(`"${"x".repeat(10 * 1024 * 1024)}"`));
  for (const body of ["", "{"]) expect(await post(body)).toBe(400);
  for (const body of ["[]", "5", '{"type":"MESSAGE"}']) expect(await post(body)).toBe(200);
  const authorization = `Bearer ${chat.google.tokenFor()}`;
  for (const method of ["GET", "PUT", "DELETE"]) expect((await fetch(address()!, { method, headers: { authorization } })).status).toBe(405);
  expect((await fetch(`${address()}/x`, { method: "POST", headers: { authorization }, body: "{}" })).status).not.toBe(200);
  await gateway.aside();
  expect(asked("w-huge")).toBe(0);
});

test("23: while keys cannot be fetched nothing is refused for good: the platform brings it again", async () => {
  await gateway.stop();
  chat.server.faults.add({ on: "x509", status: 503 });
  await gateway.start();
  await isUp();
  const message = written("say w-later");
  expect(await post(JSON.stringify(chat.messageEvent(message)))).toBe(503);
  await chat.redeliver(message);
  await expect.poll(() => answered("w-later"), PATIENCE).toBe(1);
});

test("27: what a stranger does reaches no model and has no answer, whatever it is", async () => {
  const own = await gateway.operator.request("message.action", {
    action: "send",
    channel: "googlechat",
    accountId: "number",
    params: {
      to: space.name,
      accountId: "number",
      message: "Pick",
      channelData: { googlechat: { buttons: [[{ text: "Pick", callback_data: "say w-bad" }]] } },
    },
    idempotencyKey: "pick",
  });
  expect(own.ok, JSON.stringify(own)).toBe(true);
  const card = chat.messages(space).findLast(({ cardsV2 }) => cardsV2.length > 0)!;
  const direct = chat.direct(mallory);
  for (const where of [direct, space]) {
    await chat.redeliver(chat.world.create(mallory, where.name, { text: "say w-bad", mentions: [chat.bot] }));
    await chat.redeliver(chat.world.create(mallory, where.name, { text: "/status" }));
    const event = chat.messageEvent(chat.world.create(mallory, where.name, { text: "/new w-bad" })) as { message: object };
    await chat.deliver({ ...event, message: { ...event.message, slashCommand: { commandId: "1" } } });
    await chat.deliver({ ...event, type: "APP_COMMAND" });
    chat.say(mallory, where, "w-bad", { file: { name: "bad.png", mime: "image/png", data: Buffer.from("x") } });
    await chat.addApp(mallory, where);
  }
  await chat.press(mallory, card, "Pick");
  // Another person's name in the event does not help: the sender of the message counts.
  const claimed = chat.messageEvent(chat.world.create(mallory, space.name, { text: "say w-bad" }));
  await chat.deliver({ ...claimed, user: { name: anna.name, displayName: "Anna", type: "HUMAN" } });
  chat.say(anna, space, "say w-good");
  await expect.poll(() => answered("w-good", space), PATIENCE).toBe(1);
  await gateway.aside();
  for (const { body } of gateway.model.requests) expect(body).not.toMatch(/w-bad|Mallory/);
  expect(chat.messages(direct).filter(({ sender }) => sender === chat.bot)).toEqual([]);
  expect(gateway.storedMedia()).toEqual([]);
});

test("22: without an audience no address is opened", async () => {
  await using other = await startLabGateway({
    sections: {
      gateway: { ...(gateway.sections["gateway"] as object), port: await freePort() },
      channels: { googlechat: { serviceAccount: chat.google.serviceAccount, audienceType: "project-number", audience: "", ...allowed() } },
    },
    env: { OPENCLAW_TEST_GOOGLECHAT_API_ROOT: chat.url },
  });
  const authorization = `Bearer ${chat.google.tokenFor({ claims: { aud: "" } })}`;
  const url = `${other.url.replace(/^ws/, "http")}/googlechat`;
  const response = await fetch(url, { method: "POST", body: bodyOf("say w-none"), headers: { authorization, "content-type": "application/json" } });
  expect(response.status).not.toBe(200);
  expect(other.model.requests).toEqual([]);
  expect((await other.account("googlechat"))?.connected ?? false).toBe(false);
});

import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { connectParams, createDevice } from "../harness/auth.ts";
import { openClient } from "../harness/gateway-client.ts";
import { COURIER_SECRET, courierLabs } from "../conformance/channels/courier.ts";
import { start, TOKEN } from "./start.ts";
import { freePort } from "../harness/free-port.ts";
import { startTelegramGateway, WEBHOOK_ORIGIN } from "./telegram-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

/** Other texts for the same bytes of a base64url signature. */
function spellings(signature: string): readonly string[] {
  const bytes = Buffer.from(signature, "base64url");
  const last = signature.at(-1)!;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const loose = alphabet[(alphabet.indexOf(last) & 0b110000) | ((alphabet.indexOf(last) + 1) & 0b001111)]!;
  return [signature, bytes.toString("base64"), `${signature}==`, `${signature.slice(0, -1)}${loose}`, ` ${signature}`, `${signature}\n`, bytes.toString("hex")];
}

test("23: a signed handshake that was overheard opens no second connection, however its signature is written", async () => {
  await using gateway = await start();
  const device = createDevice();
  await using first = await openClient(gateway.url);
  const nonce = String((await first.event("connect.challenge")).payload!["nonce"]);
  const signed = device.sign(connectParams({ auth: { token: TOKEN }, scopes: ["operator.admin"] }), { now: Date.now(), nonce });
  expect((await first.request("connect", signed)).ok).toBe(true);
  for (const signature of spellings(signed.device!.signature)) {
    await using again = await openClient(gateway.url);
    const fresh = String((await again.event("connect.challenge")).payload!["nonce"]);
    expect(fresh).not.toBe(nonce);
    const replayed = { ...signed, device: { ...signed.device!, signature } };
    expect((await again.request("connect", replayed)).error?.message).toMatch(/^device nonce mismatch$/);
    await using patched = await openClient(gateway.url);
    const other = String((await patched.event("connect.challenge")).payload!["nonce"]);
    const answer = await patched.request("connect", { ...replayed, device: { ...replayed.device, nonce: other } });
    expect(answer.error?.message).toBe("device signature invalid");
  }
});

test("23: a handshake that was overheard opens nothing after a restart either", async () => {
  const gateway = await start();
  const device = createDevice();
  let signed: ReturnType<typeof device.sign>;
  {
    await using first = await openClient(gateway.url);
    const nonce = String((await first.event("connect.challenge")).payload!["nonce"]);
    signed = device.sign(connectParams({ auth: { token: TOKEN }, scopes: ["operator.admin"] }), { now: Date.now(), nonce });
    expect((await first.request("connect", signed)).ok).toBe(true);
    gateway.process.child.kill("SIGKILL");
    await gateway.process.exited;
  }
  await using second = await gateway.place.gateway();
  await using again = await openClient(second.url!);
  await again.event("connect.challenge");
  expect((await again.request("connect", signed)).error?.message).toBe("device nonce mismatch");
});

/** A handshake without a nonce, as older clients on the same machine make it: who overhears it can send it again for a while. */
async function unsigned(url: string, from?: string): Promise<string | undefined> {
  await using client = await openClient(url, { headers: from === undefined ? {} : { "x-forwarded-for": from } });
  await client.event("connect.challenge");
  const signed = createDevice().sign(connectParams({ auth: { token: TOKEN }, scopes: ["operator.read"] }), { now: Date.now() });
  return (await client.request("connect", signed)).error?.message;
}

test("23: a signature without a nonce counts from this machine alone, and not where the gateway listens on the network or it is switched off", async () => {
  await using plain = await start({ gateway: { trustedProxies: ["127.0.0.1"] } });
  await using wide = await start({ gateway: { bind: "lan" } });
  await using off = await start({ gateway: { auth: { token: TOKEN, allowUnsignedNonce: false } } });
  await using chosen = await start({ gateway: { bind: "lan", auth: { token: TOKEN, allowUnsignedNonce: true } } });
  expect(await unsigned(plain.url)).toBeUndefined();
  expect(await unsigned(plain.url, "203.0.113.9")).toBe("device nonce required");
  expect([await unsigned(wide.url), await unsigned(off.url)]).toEqual(["device nonce required", "device nonce required"]);
  expect([await unsigned(chosen.url), await unsigned(chosen.url, "203.0.113.9")]).toEqual([undefined, "device nonce required"]);
});

const SECRET = "Webhook-secret_0123456789abcdef";

/** The secret as an attacker would write it who has seen it in another form, or only in part. */
const SECRET_SPELLINGS: readonly string[] = [
  "",
  SECRET.toLowerCase(),
  SECRET.toUpperCase(),
  SECRET.slice(0, -1),
  `${SECRET}0`,
  `${SECRET}, ${SECRET}`,
  `"${SECRET}"`,
  `Bearer ${SECRET}`,
  encodeURIComponent(SECRET).replaceAll("-", "%2D"),
  Buffer.from(SECRET).toString("base64"),
  Buffer.from(SECRET).toString("base64url"),
  Buffer.from(SECRET).toString("hex"),
];

test("23: an update of Telegram's webhook that is posted again, also after a restart, is taken once; with its secret written another way not at all", async () => {
  const webhookPort = await freePort();
  const url = `http://127.0.0.1:${webhookPort}/telegram-webhook`;
  await using at = await startTelegramGateway(({ me }) => ({
    webhookUrl: `${WEBHOOK_ORIGIN}/telegram-webhook`,
    webhookPort,
    webhookSecret: SECRET,
    dmPolicy: "allowlist",
    allowFrom: [me.id],
  }));
  const { telegram, gateway } = at;
  telegram.webhook.reach(WEBHOOK_ORIGIN, `http://127.0.0.1:${webhookPort}`);
  await telegram.called("setWebhook");
  const { me } = telegram;
  const chat = { id: me.id, type: "private", first_name: me.first_name };
  const update = { update_id: 990_000_001, message: { message_id: 4711, date: Math.floor(Date.now() / 1000), chat, from: me, text: "overheard w-plum" } };
  const post = (secret: string | undefined, body: object = update) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret }) },
      body: JSON.stringify(body),
    }).then(({ status }) => status);
  const heard = (): number => gateway.model.requests.filter(({ user }) => user.includes("overheard")).length;
  const answers = (): number => telegram.messages(me.id).filter(({ byBot, text }) => byBot && text.includes("w-plum")).length;

  for (const secret of [undefined, ...SECRET_SPELLINGS]) expect([secret, await post(secret)]).toEqual([secret, 401]);
  expect(await post(SECRET)).toBe(200);
  await expect.poll(answers, PATIENCE).toBe(1);
  for (let again = 0; again < 3; again += 1) expect(await post(SECRET)).toBe(200);
  // The same message under another number of the update, which is not signed: it is known by its own id.
  expect(await post(SECRET, { ...update, update_id: 990_000_777 })).toBe(200);
  await gateway.stop();
  await gateway.start();
  await expect.poll(() => telegram.calls("setWebhook").length, PATIENCE).toBeGreaterThan(1);
  for (const secret of SECRET_SPELLINGS) expect([secret, await post(secret)]).toEqual([secret, 401]);
  expect(await post(SECRET)).toBe(200);
  // What came before it was treated when this is answered.
  telegram.say("and w-pear");
  await expect.poll(() => telegram.messages(me.id).some(({ byBot, text }) => byBot && text.includes("w-pear")), PATIENCE).toBe(true);
  expect([heard(), answers()]).toEqual([1, 1]);
}, 90_000);

test("23: a channel's signed webhook that is sent again is refused, however its signature is written, and after a restart it is the same message", async () => {
  await using lab = await courierLabs()({});
  const body = JSON.stringify({ messages: [{ id: "m-1", from: { id: "olga" }, text: "overheard w-plum" }] });
  const at = Math.floor(Date.now() / 1000);
  const signed = (text: string): string => createHmac("sha256", COURIER_SECRET).update(text).digest("hex");
  const post = async (text: string, signature: string, time = at): Promise<number> => {
    const headers = { "x-courier-time": String(time), "x-courier-signature": signature };
    return (await fetch(`${lab.gateway.url.replace(/^ws/, "http")}/webhooks/courier`, { method: "POST", headers, body: text })).status;
  };
  const right = signed(`${at}.${body}`);
  const stale = at - 3600;
  expect(await post(body, signed(`${stale}.${body}`), stale)).toBe(401);
  for (const wrong of ["", right.slice(2), Buffer.from(right, "hex").toString("base64"), ` ${"0".repeat(64)}`])
    expect([wrong, await post(body, wrong)]).toEqual([wrong, 401]);
  expect(await post(body, right)).toBe(200);
  const answers = (): number => lab.received().filter(({ text }) => text.includes("w-plum")).length;
  await expect.poll(answers, PATIENCE).toBe(1);
  for (const again of [right, right.toUpperCase(), right.replace(/[a-f]/, (letter) => letter.toUpperCase())])
    expect([again, await post(body, again)]).toEqual([again, 409]);
  // Its bytes, not its meaning, are signed.
  expect(await post(`${body} `, right)).toBe(401);
  await lab.gateway.stop();
  await lab.gateway.start();
  await expect.poll(() => lab.isUp(), PATIENCE).toBe(true);
  expect(await post(body, right)).toBe(200);
  await lab.say("and w-pear");
  await expect.poll(() => lab.received().some(({ text }) => text.includes("w-pear")), PATIENCE).toBe(true);
  expect([answers(), lab.gateway.model.requests.filter(({ user }) => user.includes("overheard")).length]).toEqual([1, 1]);
}, 90_000);

/** Signed webhooks: a request that was overheard starts nothing, however its signature is written. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { askedFor, HOOK_TOKEN, postHook, type HookReply } from "../harness/hook-client.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const SECRET = "secret-of-signatures-0123456789";

let gateway: LabGateway;

beforeAll(async () => {
  gateway = await startLabGateway({
    sections: {
      hooks: {
        enabled: true,
        token: HOOK_TOKEN,
        mappings: [
          { preset: "github", secret: SECRET },
          { preset: "stripe", secret: SECRET, match: { path: "pay" }, messageTemplate: "{{type}}" },
          { preset: "slack", secret: SECRET, messageTemplate: "{{event.text}}" },
          { preset: "slack", match: { path: "commands" }, secret: SECRET, messageTemplate: "{{command}} {{text}}" },
        ],
      },
    },
  });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const asked = (text: string): number => askedFor(gateway, text).length;
const sign = (text: string): string => createHmac("sha256", SECRET).update(text).digest("hex");
const seconds = (): number => Math.floor(Date.now() / 1000);
/** Without the token: services do not know it. */
const signed = (path: string, body: string, headers: Record<string, string>): Promise<HookReply> => postHook(gateway, path, body, { token: null, headers });

/** Nothing more comes: a turn that was asked for afterwards has ended. */
const settled = (): Promise<void> => gateway.aside();

test("23: a delivery signed as GitHub does it is taken without a token, and a replay starts nothing, however its signature is written", async () => {
  const body = JSON.stringify({ action: "opened", repository: { full_name: "o/r" }, sender: { login: "w-octocat" } });
  const signature = sign(body);
  const headers = (written: string, delivery = "d-1") => ({ "x-hub-signature-256": written, "x-github-event": "issues", "x-github-delivery": delivery });
  const first = await signed("/github", body, headers(`sha256=${signature}`));
  expect(first).toMatchObject({ status: 202, body: { ok: true } });
  await expect.poll(() => asked("by w-octocat"), PATIENCE).toBe(1);
  const upper = await signed("/github", body, headers(`sha256=${signature.toUpperCase()}`));
  expect(upper).toMatchObject({ status: 202, body: { runId: first.body["runId"], duplicate: true } });
  for (const written of [`sha256=${signature}`, `sha256=${signature.toUpperCase()}`, ` sha256=${signature} `])
    expect((await signed("/github", body, headers(written, "d-2"))).status).toBe(409);
  await gateway.kill();
  await gateway.start();
  expect((await signed("/github", body, headers(`sha256=${signature}`, "d-3"))).status).toBe(409);
  for (const written of [
    "",
    "sha256=",
    signature,
    `sha1=${signature}`,
    `sha256=${Buffer.from(signature, "hex").toString("base64")}`,
    `sha256=${"0".repeat(64)}`,
  ])
    expect((await signed("/github", body, headers(written, "d-4"))).status).toBe(401);
  expect((await signed("/github", `${body} `, headers(`sha256=${signature}`, "d-5"))).status).toBe(401);
  expect((await signed("/agent", body, headers(`sha256=${signature}`))).status).toBe(401);
  // The token alone does not replace a signature.
  expect((await postHook(gateway, "/github", body)).status).toBe(401);
  expect(await signed("/github", "{}", { ...headers(`sha256=${sign("{}")}`, "d-6"), "x-github-event": "ping" })).toMatchObject({
    status: 200,
    body: { pong: true },
  });
  await settled();
  expect(asked("by w-octocat")).toBe(1);
  expect(askedFor(gateway, "by w-octocat")[0]!.user).toContain("EXTERNAL_UNTRUSTED_CONTENT");
});

test("23: a form that is signed as GitHub or Slack do it is read, its replay starts nothing, and Slack is given an empty answer", async () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const event = new URLSearchParams({
    payload: JSON.stringify({ action: "closed", repository: { full_name: "o/r" }, sender: { login: "w-form" } }),
  }).toString();
  const github = { ...form, "x-hub-signature-256": `sha256=${sign(event)}`, "x-github-event": "issues", "x-github-delivery": "form-1" };
  expect((await signed("/github", event, github)).status).toBe(202);
  const command = new URLSearchParams({ command: "/weather", text: "say w-slash", trigger_id: "1.2.3" }).toString();
  const time = String(seconds());
  const slack = { ...form, "x-slack-request-timestamp": time, "x-slack-signature": `v0=${sign(`v0:${time}:${command}`)}` };
  for (const _ of ["once", "again"]) expect(await signed("/commands", command, slack)).toMatchObject({ status: 200, body: {} });
  await expect.poll(() => [asked("by w-form"), asked("/weather say w-slash")], PATIENCE).toEqual([1, 1]);
  const broken = "payload=%7Bbroken";
  const headers = { ...github, "x-hub-signature-256": `sha256=${sign(broken)}`, "x-github-delivery": "form-2" };
  expect(await signed("/github", broken, headers)).toMatchObject({ status: 400, body: { error: expect.stringContaining("Invalid JSON") } });
  await settled();
  expect([asked("by w-form"), asked("/weather say w-slash")]).toEqual([1, 1]);
});

test("23: deliveries signed as Stripe and Slack do it count for five minutes, and once", async () => {
  const event = JSON.stringify({ id: "evt_1", type: "say w-stripe" });
  const stripe = (time: number, body = event) => ({ "stripe-signature": `t=${time},v1=${"0".repeat(64)},v1=${sign(`${time}.${body}`)}` });
  expect((await signed("/pay", event, stripe(seconds()))).status).toBe(202);
  // The service sends it again, signed again.
  expect(await signed("/pay", event, stripe(seconds() + 1))).toMatchObject({ status: 202, body: { duplicate: true } });
  for (const time of [seconds() - 400, seconds() + 400]) expect((await signed("/pay", event, stripe(time))).status).toBe(401);
  expect((await signed("/pay", event, { "stripe-signature": `v1=${sign(`.${event}`)}` })).status).toBe(401);

  const call = JSON.stringify({ type: "event_callback", event_id: "Ev1", event: { type: "message", text: "say w-slack" } });
  const slack = (time: number, body: string) => ({ "x-slack-request-timestamp": String(time), "x-slack-signature": `v0=${sign(`v0:${time}:${body}`)}` });
  expect((await signed("/slack", call, slack(seconds(), call))).status).toBe(202);
  expect((await signed("/slack", call, slack(seconds() - 400, call))).status).toBe(401);
  const challenge = JSON.stringify({ type: "url_verification", challenge: "c-1" });
  expect(await signed("/slack", challenge, slack(seconds(), challenge))).toMatchObject({ status: 200, body: { challenge: "c-1" } });
  await expect.poll(() => [asked("say w-stripe"), asked("say w-slack")], PATIENCE).toEqual([1, 1]);
  await settled();
  expect([asked("say w-stripe"), asked("say w-slack")]).toEqual([1, 1]);
});

/** What a webhook starts happens once: across kills and repeats. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { askedFor, HOOK_TOKEN, postHook, type HookReply } from "../harness/hook-client.ts";

const SECRET = "secret-of-the-sender-0123456789";
const PATIENCE = { timeout: 20_000, interval: 20 };

let gateway: LabGateway;

beforeAll(async () => {
  gateway = await startLabGateway({
    build: "dist-test",
    sections: {
      hooks: {
        enabled: true,
        token: HOOK_TOKEN,
        mappings: [
          { match: { path: "lines" }, action: "wake", textTemplate: "{{text}}" },
          { preset: "github", secret: SECRET, action: "wake", textTemplate: "{{title}}" },
        ],
      },
    },
  });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const asked = (text: string): number => askedFor(gateway, text).length;

/** Nothing more comes: a turn that was asked for afterwards has ended. */
async function settled(): Promise<void> {
  await gateway.aside();
}

test.each(["webhook.begun", "inbox.committed", "webhook.accepted", "turn.started", "webhook.ended", "webhook.reported", "webhook.finished"])(
  "killed at %s, a request that is repeated runs once and is reported once",
  async (failpoint) => {
    const word = `w-${failpoint.replaceAll(".", "")}`;
    const send = (): Promise<HookReply> => postHook(gateway, "/agent", { message: `say ${word}`, name: word }, { headers: { "idempotency-key": failpoint } });
    await gateway.stop();
    await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
    const first = await send().catch(() => undefined);
    expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
    await gateway.start();
    const again = await send();
    expect(again).toMatchObject({ status: 202, body: { ok: true } });
    if (first) expect(again.body).toEqual({ ...first.body, duplicate: true });
    await expect.poll(() => asked(`Hook ${word}: Heard ${word}.`), PATIENCE).toBe(1);
    await settled();
    expect([asked(`say ${word}`), asked(`Hook ${word}: Heard ${word}.`)]).toEqual([1, 1]);
  },
);

test("an accepted run whose gateway is killed is reported without being sent again", async () => {
  gateway.model.holds(({ user }) => user.includes("say w-killed"));
  expect((await postHook(gateway, "/agent", { message: "say w-killed", name: "Killed" })).status).toBe(202);
  await expect.poll(() => asked("say w-killed"), PATIENCE).toBe(1);
  await gateway.kill();
  gateway.model.holds(undefined);
  await gateway.start();
  await expect.poll(() => asked("Hook Killed: Heard w-killed."), PATIENCE).toBe(1);
});

test("twenty copies of a request at once are one run; another body under the same key is refused", async () => {
  const headers = { "idempotency-key": "copies" };
  const replies = await Promise.all(Array.from({ length: 20 }, () => postHook(gateway, "/agent", { message: "say w-copies" }, { headers })));
  expect(new Set(replies.map(({ status, body }) => `${status} ${String(body["runId"])}`)).size).toBe(1);
  expect(replies.filter(({ body }) => body["duplicate"] === undefined)).toHaveLength(1);
  expect((await postHook(gateway, "/agent", { message: "say w-others" }, { headers })).status).toBe(409);
  expect((await postHook(gateway, "/agent", { message: "x" }, { headers: { "idempotency-key": "k".repeat(257) } })).status).toBe(400);
  await expect.poll(() => asked("say w-copies"), PATIENCE).toBe(1);
  await settled();
  expect([asked("say w-copies"), asked("say w-others")]).toEqual([1, 0]);
});

test.each(["/wake", "/lines"])("a line for the main session at %s is queued once under its key; another body is refused", async (path) => {
  const word = `w-line${path.length}`;
  const headers = { "idempotency-key": "line" };
  const send = (text: string): Promise<HookReply> => postHook(gateway, path, { text }, { headers });
  const replies = await Promise.all([send(word), send(word), send(word)]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(replies.filter(({ body }) => body["duplicate"] === true)).toHaveLength(2);
  expect(await send(word)).toMatchObject({ status: 200, body: { ok: true, mode: "now", duplicate: true } });
  expect((await send(`${word}other`)).status).toBe(409);
  await expect.poll(() => asked(word), PATIENCE).toBe(1);
  await settled();
  expect([asked(word), asked(`${word}other`)]).toEqual([1, 0]);
});

test.each(["webhook.wake.begun", "webhook.wake.queued"])("killed at %s, a line that is sent again is acted on once", async (failpoint) => {
  const word = `w-${failpoint.replaceAll(".", "")}`;
  const send = (): Promise<HookReply> => postHook(gateway, "/wake", { text: word }, { headers: { "idempotency-key": failpoint } });
  await gateway.stop();
  await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
  await send().catch(() => undefined);
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
  expect((await send()).status).toBe(200);
  expect((await send()).body).toMatchObject({ duplicate: true });
  await expect.poll(() => asked(word), PATIENCE).toBe(1);
  await settled();
  expect(asked(word)).toBe(1);
});

test("a signed request under a used delivery id is refused, and can be sent under a new one", async () => {
  const send = (title: string, delivery: string): Promise<HookReply> => {
    const body = JSON.stringify({ title });
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const headers = { "x-github-event": "issues", "x-github-delivery": delivery, "x-hub-signature-256": `sha256=${signature}` };
    return postHook(gateway, "/github", body, { token: null, headers });
  };
  expect((await send("w-one", "d1")).status).toBe(200);
  expect(await send("w-one", "d1")).toMatchObject({ status: 200, body: { duplicate: true } });
  expect((await send("w-one", "d2")).status).toBe(409);
  expect((await send("w-two", "d1")).status).toBe(409);
  expect((await send("w-two", "d3")).status).toBe(200);
  expect((await send("w-two", "d4")).status).toBe(409);
  await expect.poll(() => asked("w-two"), PATIENCE).toBe(1);
});

test("a report for which the main session has no space waits, and is there as soon as some lines were read", async () => {
  // A turn of the test before may still read some of them.
  let status = 200;
  for (let n = 0; n < 500 && status === 200; n += 1) ({ status } = await postHook(gateway, "/wake", { text: `w-waits ${n}`, mode: "next-heartbeat" }));
  expect(status).toBe(429);
  expect((await postHook(gateway, "/agent", { message: "say w-full", name: "Full" })).status).toBe(202);
  await expect.poll(() => gateway.output(), PATIENCE).toContain('the report of the webhook run "Full" is waiting');
  expect(asked("Hook Full: ")).toBe(0);
  await gateway.operator.request("chat.send", { sessionKey: "main", message: "anything new?", idempotencyKey: "drains" });
  await expect.poll(() => asked("Hook Full: Heard w-full."), PATIENCE).toBe(1);
});

/** Webhooks over the routes of a host, with the SDK that a plugin finds. */
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type * as Testing from "../../../src/plugin-testing/index.ts";

const { createTestHost } = createRequire(import.meta.url)("../../../dist/plugin-sdk/testing.js") as typeof Testing;

/** Each account has its secret; `order` makes the next requests fail in a certain way. */
const PLUGIN = `
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createWebhooks, defineChannel, verifyHmac } from "openclaw/plugin-sdk/channel-kit";

export default definePluginEntry({
  id: "post",
  name: "Post",
  description: "Webhooks of a test.",
  register(api) {
    const webhooks = createWebhooks();
    const orders = [];
    const handled = [];
    api.registerGatewayMethod("post.order", ({ params, respond }) => respond(true, { left: orders.push(params.fault) }));
    api.registerGatewayMethod("post.handled", ({ respond }) => respond(true, { handled }));
    api.registerChannel({
      plugin: defineChannel({
        id: "post",
        label: "Post",
        blurb: "A test.",
        credentials: [{ key: "secret", label: "Secret", isOptional: true, isOwn: true }],
        async connect(run, account) {
          const close = webhooks.register({
            pluginId: "post",
            accountId: account.accountId,
            path: "/hooks-of/post",
            log: run.log,
            maxBytes: 1000,
            verify({ body, headers }) {
              if (orders[0] === "verify") { orders.shift(); throw new Error("the keys cannot be fetched"); }
              return verifyHmac({ secret: account.credentials.secret, payload: body, received: String(headers["x-signature"]), encoding: "base64" });
            },
            async handle({ body, query }) {
              if (orders[0] === "handle") { orders.shift(); throw new Error("the host is full"); }
              handled.push([account.accountId, body.toString("utf8"), query.get("n")]);
              return { body: { ok: account.accountId } };
            },
            repeated: () => ({ status: 200, body: "again" }),
          });
          run.up();
          await run.stopped();
          close();
        },
        send: async () => "1",
      }),
    });
  },
});
`;

async function openHost(accounts: Record<string, { secret?: string }>) {
  const folder = mkdtempSync(join(tmpdir(), "post-"));
  writeFileSync(join(folder, "index.js"), PLUGIN);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "post", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }));
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "post", channels: ["post"], configSchema: { type: "object", properties: {} } }));
  const host = await createTestHost({ plugins: [folder], config: { channels: { post: { accounts } } }, clock: "system" });
  onTestFinished(async () => {
    await host[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  await host.ready();
  const send = async (body: string, signature: string): Promise<{ status: number; text: string }> => {
    const answer = await host.fetch("/hooks-of/post?n=1", { method: "POST", body, headers: { "x-signature": signature }, token: false });
    return { status: answer.status, text: await answer.text() };
  };
  await expect.poll(async () => (await send("", "")).status).toBe(401);
  return {
    send,
    order: (fault: string) => host.request("post.order", { fault }),
    handled: async () => JSON.stringify(await host.request("post.handled", {})),
    logs: () => host.logs().map(({ message }) => message),
  };
}
const sign = (body: string, secret: string): string => createHmac("sha256", secret).update(body).digest("base64");

test("what the host could not take is answered with 503, and taken when it comes again with the same signature, once", async () => {
  const { send, order, handled, logs } = await openHost({ a: { secret: "s1" } });
  await order("handle");
  const body = "grüße \u0000 1";
  expect(await send(body, sign(body, "s1"))).toMatchObject({ status: 503 });
  expect(await send(body, sign(body, "s1"))).toEqual({ status: 200, text: '{"ok":"a"}' });
  expect(await send(body, sign(body, "s1"))).toEqual({ status: 200, text: "again" });
  expect(await send(body, sign(body, "s1").replace(/=+$/, ""))).toEqual({ status: 200, text: "again" });
  expect(JSON.parse(await handled())).toMatchObject({ payload: { handled: [["a", body, "1"]] } });
  expect(logs().some((line) => line.includes("was not accepted (the host is full); the platform will retry it"))).toBe(true);
});

test("a request that cannot be verified now comes again; one that is too large or not posted is refused", async () => {
  const { send, order, handled } = await openHost({ a: { secret: "s1" } });
  await order("verify");
  expect((await send("x", sign("x", "s1"))).status).toBe(503);
  expect((await send("x", sign("x", "s1"))).status).toBe(200);
  const large = "y".repeat(1001);
  expect((await send(large, sign(large, "s1"))).status).toBe(413);
  expect(await handled()).not.toContain("yyy");
});

test("accounts on one path: a request belongs to the one whose secret signed it, and to nobody where two could have", async () => {
  const { send, handled, logs } = await openHost({ a: { secret: "s1" }, b: { secret: "s2" }, c: { secret: "s2" }, empty: {} });
  await expect.poll(async () => (await send("x", sign("x", "s1"))).status).toBe(200);
  expect((await send("y", sign("y", "s2"))).status).toBe(401);
  expect((await send("z", sign("z", ""))).status).toBe(401);
  expect(await handled()).toContain('[["a","x","1"]]');
  expect(logs().some((line) => line.includes("several accounts accept it"))).toBe(true);
});

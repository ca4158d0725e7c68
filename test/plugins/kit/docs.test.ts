/** The page about the channel kit: it names everything there is, and its channel works as it stands there. */
import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import type { FakeServer, TestHost } from "../../../src/plugin-testing/index.ts";
import type * as Testing from "../../../src/plugin-testing/index.ts";
import type { ChannelPlugin } from "../../../src/protocol/index.ts";
import * as kit from "../../../src/plugins/sdk/paths/channel-kit.ts";
import { writeCourierPlugin } from "../../conformance/channels/courier.ts";
import { startCourier } from "../../fakes/courier/server.ts";
import { readPage } from "../../harness/docs-page.ts";

// As a plugin's own tests have it: the host and the SDK that the plugin finds are those of the build.
const { createTestHost } = createRequire(import.meta.url)("../../../dist/plugin-sdk/testing.js") as typeof Testing;

const page = readPage("docs/channels/kit.md");
const EXAMPLE = page.blocks.find(({ language, text }) => language === "ts" && text.startsWith("// courier.ts"))!.text;

test("every function and class of the kit is on the page", () => {
  const missing = Object.keys(kit).filter((name) => !new RegExp(`\\b${name}\\b`).test(page.text));
  expect(missing).toEqual([]);
});

test("a whole channel over HTTP and webhooks fits on two screens", () => {
  expect(EXAMPLE.split("\n").length).toBeLessThanOrEqual(150);
});

interface Lab {
  readonly host: TestHost;
  post(body: string, options?: { readonly secret?: string; readonly at?: number; readonly sign?: (hex: string) => string }): Promise<number>;
}

async function openLab(courier: FakeServer, section: object = {}): Promise<Lab> {
  const plugin = writeCourierPlugin();
  const config = {
    channels: { courier: { baseUrl: courier.url, token: "one", signingSecret: "s1", dmPolicy: "open", allowFrom: ["*"], ...section } },
  };
  const host = await createTestHost({ plugins: [plugin.folder], config, clock: "system" });
  onTestFinished(async () => {
    await host[Symbol.asyncDispose]();
    plugin[Symbol.dispose]();
  });
  expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
  await host.ready();
  return {
    host,
    async post(body, { secret = "s1", at = Math.floor(Date.now() / 1000), sign = (hex: string) => hex } = {}) {
      const hex = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
      const headers = { "x-courier-time": String(at), "x-courier-signature": sign(hex) };
      return (await host.fetch("/webhooks/courier", { method: "POST", body, headers, token: false })).status;
    },
  };
}

const message = (id: string, text: string): string => JSON.stringify({ messages: [{ id, from: { id: "ada", name: "Ada" }, text }, { junk: 1 }] });

test("its message is answered, once, over the API", async () => {
  await using courier = await startCourier(["one", "two"]);
  const { host, post } = await openLab(courier);
  host.script(["hello Ada"]);
  await expect.poll(() => post(message("m1", "hello"))).toBe(200);
  await host.idle();
  // With another time, and so another signature.
  expect(await post(message("m1", "hello"), { at: Math.floor(Date.now() / 1000) - 60 })).toBe(200);
  await host.idle();
  expect(courier.sent).toMatchObject([{ to: "ada", text: "hello Ada" }]);
});

test("a request that is unsigned, wrong, stale or repeated in any spelling is refused", async () => {
  await using courier = await startCourier(["one", "two"]);
  const { host, post } = await openLab(courier);
  host.script(["hello Ada"]);
  const at = Math.floor(Date.now() / 1000);
  await expect.poll(() => post(message("m1", "hello"), { at })).toBe(200);
  for (const sign of [(hex: string) => hex, (hex: string) => hex.toUpperCase()]) expect(await post(message("m1", "hello"), { at, sign })).toBe(409);
  expect(await post(message("m2", "hi"), { secret: "other" })).toBe(401);
  expect(await post(message("m2", "hi"), { at: at - 600 })).toBe(401);
  expect(await post(message("m2", "hi"), { sign: () => "" })).toBe(401);
  expect((await host.fetch("/webhooks/courier", { token: false })).status).toBe(405);
  await host.idle();
  expect(courier.sent).toHaveLength(1);
});

test("two accounts share a path: the secret says whose a request is, and each answers as itself", async () => {
  await using courier = await startCourier(["one", "two"]);
  const accounts = { first: { token: "one", signingSecret: "s1" }, second: { token: "two", signingSecret: "s2" } };
  const { host, post } = await openLab(courier, { accounts, token: undefined, signingSecret: undefined });
  host.script(["from the first", "from the second"]);
  await expect.poll(() => post(message("a", "hello"), { secret: "s1" })).toBe(200);
  await host.idle();
  await expect.poll(() => post(message("b", "hello"), { secret: "s2" })).toBe(200);
  await host.idle();
  const posts = courier.asked.filter(({ path }) => path === "/messages").map(({ headers, fields }) => [headers.authorization, fields["text"]]);
  expect(posts).toEqual([
    ["Bearer one", "from the first"],
    ["Bearer two", "from the second"],
  ]);
});

test("an answer that is lost is repeated with its key, and a pause is kept", async () => {
  await using courier = await startCourier(["one", "two"]);
  const { host, post } = await openLab(courier);
  host.script(["hello Ada", "hello again"]);
  await expect.poll(() => post(message("m0", "hello"))).toBe(200);
  await host.idle();
  courier.faults.add({ on: "/messages", reset: true, applied: true });
  courier.faults.add({ on: "/messages", status: 429, headers: { "retry-after": "0.1" } });
  expect(await post(message("m1", "hello"))).toBe(200);
  await host.idle();
  expect(courier.sent.map(({ text }) => text)).toEqual(["hello Ada", "hello again"]);
  const keys = courier.asked.filter(({ fields }) => fields["text"] === "hello again").map(({ fields }) => fields["key"]);
  expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
});

test("a wrong token ends the account with what to do, and is not shown", async () => {
  await using courier = await startCourier(["one", "two"]);
  const { host } = await openLab(courier, { token: "wrong-0123456789" });
  const channel = host.channel("courier") as ChannelPlugin<kit.ChannelAccount, kit.ChannelProbe>;
  const cfg = { channels: { courier: { baseUrl: courier.url, token: "wrong-0123456789", signingSecret: "s1" } } };
  const probe = await channel.status!.probeAccount!({ account: channel.config.resolveAccount(cfg), timeoutMs: 5000, cfg });
  expect(probe).toMatchObject({ ok: false, status: 401, error: expect.stringContaining("get a new token and set channels.courier.token") as string });
  await expect.poll(() => courier.asked.length).toBeGreaterThanOrEqual(2);
  await expect.poll(() => host.logs().some(({ message: text }) => text.includes("401"))).toBe(true);
  expect(JSON.stringify([host.logs(), probe])).not.toContain("wrong-0123456789");
});

/** A plugin's command that ends the process is not run again by the next one, no matter who sent it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const DEADLY = `
import { execSync } from "node:child_process";
export default function register(api) {
  api.registerCommand({ name: "boom", description: "d", requireAuth: false, handler() { api.logger.info("boom begins"); execSync("kill -9 " + process.pid); return { text: "never" }; } });
}`;

async function newPlace() {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 5 }));
  const telegram = await startTelegram();
  onTestFinished(() => telegram[Symbol.asyncDispose]());
  telegram.direct(telegram.me);
  const plugin = join(place.home, "deadly");
  mkdirSync(plugin);
  writeFileSync(join(plugin, "openclaw.plugin.json"), JSON.stringify({ id: "deadly", configSchema: { type: "object" } }));
  writeFileSync(join(plugin, "index.js"), DEADLY);
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: TOKEN } },
      plugins: { load: { paths: [plugin] }, entries: { deadly: { enabled: true }, telegram: { enabled: true } } },
      channels: { telegram: { enabled: true, botToken: telegram.token, dmPolicy: "allowlist", allowFrom: [telegram.me.id], streamMode: "off" } },
    }),
  );
  const start = () => place.gateway({ env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
  const connect = (gateway: { readonly url?: string | undefined }) =>
    enter(gateway.url!, { token: TOKEN, scopes: ["operator.admin", "operator.read", "operator.write"] });
  return { telegram, start, connect };
}

const INTERRUPTED = "/boom was interrupted when the gateway stopped";

test("of a client: the next start says that it was interrupted, and stays up", { timeout: 60_000 }, async () => {
  const { start, connect } = await newPlace();
  const first = await start();
  const client = await connect(first);
  await client.request("chat.send", { sessionKey: "agent:main:main", message: "say hello", idempotencyKey: "hello" });
  await client.request("agent.wait", { runId: "hello", timeoutMs: 20_000 });
  void client.request("chat.send", { sessionKey: "agent:main:main", message: "/boom", idempotencyKey: "boom-1" }).catch(() => undefined);
  expect(await first.exited).toMatchObject({ signal: "SIGKILL" });
  await using second = await start();
  await using again = await connect(second);
  expect((await again.request("agent.wait", { runId: "boom-1", timeoutMs: 20_000 })).payload).toMatchObject({ status: "ok" });
  expect(JSON.stringify((await again.request("chat.history", { sessionKey: "agent:main:main" })).payload)).toContain(INTERRUPTED);
  expect(second.output()).not.toContain("boom begins");
});

test("of a chat: its sender is notified once, and the gateway stays up", { timeout: 60_000 }, async () => {
  const { telegram, start, connect } = await newPlace();
  const first = await start();
  telegram.say("/boom", { from: telegram.me });
  expect(await first.exited).toMatchObject({ signal: "SIGKILL" });
  await using second = await start();
  const notices = () => telegram.messages(telegram.me.id).filter(({ byBot, text }) => byBot && text.includes(INTERRUPTED)).length;
  await expect.poll(notices).toBe(1);
  await using client = await connect(second);
  expect(await client.request("health", {})).toMatchObject({ ok: true });
  expect(second.output()).not.toContain("boom begins");
  expect(notices()).toBe(1);
});

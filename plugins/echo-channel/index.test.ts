import { createTestHost } from "openclaw/plugin-sdk/testing";
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const plugins = [fileURLToPath(new URL(".", import.meta.url))];

test("the channel is registered with one account", async () => {
  await using host = await createTestHost({ plugins });
  expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
  expect(host.plugins()[0]).toMatchObject({ channelIds: ["echo"], httpHandlers: 1 });
  const { config } = host.channel("echo") as ChannelPlugin;
  expect(config.listAccountIds({})).toEqual(["default"]);
  expect(config.resolveAccount({ channels: { echo: { enabled: false } } })).toEqual({ accountId: "default", enabled: false });
});

test("what is sent is kept and can be seen with the gateway's token only", async () => {
  await using host = await createTestHost({ plugins });
  const { outbound } = host.channel("echo") as ChannelPlugin;
  expect(await outbound?.sendText?.({ cfg: {}, to: "ada", text: "hello", accountId: null })).toEqual({ channel: "echo", messageId: "echo-1" });
  const answer = await host.fetch("/plugins/echo-channel/sent");
  expect(await answer.json()).toEqual({ sent: [{ id: "echo-1", to: "ada", text: "hello", accountId: "default" }] });
  expect((await host.fetch("/plugins/echo-channel/sent", { token: false })).status).toBe(401);
});

test("an account runs until it is told to stop", async () => {
  await using host = await createTestHost({ plugins });
  const { gateway } = host.channel("echo") as ChannelPlugin;
  const stop = new AbortController();
  const states: unknown[] = [];
  const context = { cfg: {}, accountId: "default", account: {}, abortSignal: stop.signal, setStatus: (state: unknown) => states.push(state) };
  const running = gateway?.startAccount?.(context as never);
  stop.abort();
  await running;
  expect(states).toEqual([
    { accountId: "default", running: true },
    { accountId: "default", running: false },
  ]);
});

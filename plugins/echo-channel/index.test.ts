import { createTestHost } from "openclaw/plugin-sdk/testing";
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const plugins = [fileURLToPath(new URL(".", import.meta.url))];

test("the channel is registered with one account", async () => {
  await using host = await createTestHost({ plugins });
  expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
  expect(host.plugins()[0]).toMatchObject({ channelIds: ["echo"], httpHandlers: 2 });
  const { config } = host.channel("echo") as ChannelPlugin;
  expect(config.listAccountIds({})).toEqual(["default"]);
  expect(config.resolveAccount({ channels: { echo: { enabled: false } } })).toMatchObject({ accountId: "default", enabled: false, problems: [] });
});

test("what is sent is kept and can be seen with the gateway's token only", async () => {
  await using host = await createTestHost({ plugins });
  const { outbound } = host.channel("echo") as ChannelPlugin;
  expect(await outbound?.sendText?.({ cfg: {}, to: "ada", text: "hello", accountId: null })).toEqual({ channel: "echo", messageId: "echo-1" });
  const answer = await host.fetch("/plugins/echo-channel/sent");
  expect(await answer.json()).toEqual({ sent: [{ id: "echo-1", to: "ada", text: "hello", accountId: "default" }] });
  expect((await host.fetch("/plugins/echo-channel/sent", { token: false })).status).toBe(401);
});

test("an account runs until it is asked to stop", async () => {
  await using host = await createTestHost({ plugins });
  const { gateway, config } = host.channel("echo") as ChannelPlugin;
  const stop = new AbortController();
  const states: unknown[] = [];
  const account = config.resolveAccount({});
  const setStatus = (state: unknown) => states.push(state);
  const inbound = { accept: () => {} };
  const running = gateway?.startAccount?.({ cfg: {}, accountId: "default", account, abortSignal: stop.signal, setStatus, inbound } as never);
  stop.abort();
  await running;
  expect(states.at(0)).toMatchObject({ accountId: "default", running: true });
  expect(states).toContainEqual(expect.objectContaining({ connected: true }));
  expect(states.at(-1)).toMatchObject({ accountId: "default", running: false, connected: false });
});

test("what is said over it is answered over it, once", async () => {
  const config = { channels: { echo: { dmPolicy: "open", allowFrom: ["*"] } } };
  await using host = await createTestHost({ plugins, config });
  await host.ready();
  host.script(["hello Ada"]);
  const say = () => host.fetch("/plugins/echo-channel/say", { method: "POST", body: JSON.stringify({ from: "ada", text: "hello", id: "1" }) });
  expect(await (await say()).json()).toEqual({ outcome: "accepted", duplicate: false });
  expect(await (await say()).json()).toEqual({ outcome: "accepted", duplicate: true });
  await host.idle();
  const { sent } = (await (await host.fetch("/plugins/echo-channel/sent")).json()) as { sent: object[] };
  expect(sent).toEqual([{ id: "echo-1", to: "ada", text: "hello Ada", accountId: "default" }]);
  expect(host.replies()).toMatchObject([{ channel: "echo", to: "ada", text: "hello Ada" }]);
});

test("a stranger is answered with a code, what is no message is refused, and without the token nobody says anything", async () => {
  await using host = await createTestHost({ plugins });
  await host.ready();
  const post = (body: string, token = true) => host.fetch("/plugins/echo-channel/say", { method: "POST", body, token });
  expect(await (await post('{"from":"eve","text":"hi"}')).json()).toMatchObject({ outcome: "refused" });
  await host.idle();
  expect(host.replies()).toMatchObject([{ to: "eve", text: expect.stringContaining("pairing approve echo") }]);
  expect((await post("{}")).status).toBe(400);
  expect((await post('{"from":"eve","text":"hi"}', false)).status).toBe(401);
});

/** The fake against Discord's own client libraries, which know nothing of ours. */
import { REST } from "@discordjs/rest";
import { WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import { expect, test } from "vitest";
import { startDiscord } from "./index.ts";

function client(token: string, apiRoot: string): { readonly rest: REST; readonly manager: WebSocketManager } {
  const rest = new REST({ api: apiRoot.replace(/\/v10$/, ""), version: "10", retries: 0 }).setToken(token);
  const intents = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);
  // The bits of the documentation, without the enum of yet another package.
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
  return { rest, manager: new WebSocketManager({ token, intents, rest }) };
}

interface Dispatch {
  readonly t: string;
  readonly d: Record<string, unknown>;
}

test("the official gateway client identifies, receives, resumes after op 7, and the official REST client sends", async () => {
  await using discord = await startDiscord();
  const guild = discord.world.guild({ members: [discord.me] });
  const channel = discord.world.channel(guild);
  const { rest, manager } = client(discord.token, discord.apiRoot);
  const heard: Dispatch[] = [];
  manager.on(
    WebSocketShardEvents.Dispatch as never,
    ((payload: unknown) => {
      const event = (payload as { data?: unknown }).data ?? payload;
      heard.push(event as Dispatch);
    }) as never,
  );
  manager.on("error" as never, (() => undefined) as never);
  await manager.connect();
  const texts = (): unknown[] => heard.filter(({ t }) => t === "MESSAGE_CREATE").map(({ d }) => d["content"]);
  await expect.poll(() => heard.map(({ t }) => t)).toEqual(expect.arrayContaining(["READY", "GUILD_CREATE"]));
  discord.say("hello", { channel });
  await expect.poll(texts).toEqual(["hello"]);
  discord.gateway.askToReconnect();
  await expect.poll(() => discord.gateway.resumed, { timeout: 10_000 }).toBe(1);
  discord.say("again", { channel });
  await expect.poll(texts).toEqual(["hello", "again"]);
  const body = { content: "from the client", nonce: "n1", enforce_nonce: true };
  const first = (await rest.post(`/channels/${channel.id}/messages`, { body })) as { id: string };
  const second = (await rest.post(`/channels/${channel.id}/messages`, { body })) as { id: string };
  expect(second.id).toBe(first.id);
  await expect(rest.post(`/channels/${channel.id}/messages`, { body: { content: "x".repeat(2001) } })).rejects.toMatchObject({ code: 50_035, status: 400 });
  const files = [{ name: "a.txt", data: Buffer.from("words") }];
  const uploaded = (await rest.post(`/channels/${channel.id}/messages`, { body: { content: "file" }, files })) as { attachments: { filename: string }[] };
  expect(uploaded.attachments).toMatchObject([{ filename: "a.txt" }]);
  expect(await rest.get(`/channels/${channel.id}/messages`, { query: new URLSearchParams({ limit: "2" }) })).toMatchObject([
    { content: "file" },
    { id: first.id },
  ]);
  await manager.destroy();
}, 30_000);

test("a wrong token is refused on both sides", async () => {
  await using discord = await startDiscord();
  const { rest } = client("wrong", discord.apiRoot);
  await expect(rest.get("/users/@me")).rejects.toMatchObject({ status: 401 });
  const socket = new WebSocket(`${discord.apiRoot.replace("http", "ws").replace("/api/v10", "/gateway")}?v=10&encoding=json`);
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  socket.addEventListener("open", () => socket.send(JSON.stringify({ op: 2, d: { token: "wrong", intents: 0, properties: {} } })));
  expect(await closed).toBe(4004);
});

test.each([
  ["an opcode that does not exist", { op: 5, d: {} }, 4003],
  ["a frame over 4096 bytes", { op: 1, d: "x".repeat(5000) }, 4002],
  ["intents that are no number", { op: 2, d: { intents: "all", properties: {} } }, 4013],
  ["a sequence from the future", { op: 6, d: { session_id: "none", seq: 1 } }, undefined],
])("the gateway answers %s", async (_title, frame, code) => {
  await using discord = await startDiscord();
  const withToken = { ...frame, d: typeof frame.d === "object" ? { token: discord.token, ...frame.d } : frame.d };
  const socket = new WebSocket(`${discord.apiRoot.replace("http", "ws").replace("/api/v10", "/gateway")}?v=10&encoding=json`);
  const outcome = new Promise<unknown>((resolve) => {
    socket.addEventListener("close", ({ code: closed }) => resolve(closed));
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(String(data)) as { op: number; d: unknown };
      if (message.op === 9) resolve(message);
    });
  });
  socket.addEventListener("open", () => socket.send(JSON.stringify(withToken)));
  expect(await outcome).toEqual(code ?? { op: 9, d: false });
  socket.close();
});

test("limits are shown in headers, and refused with the time to wait", async () => {
  await using discord = await startDiscord();
  const channel = discord.world.channel(discord.world.guild());
  discord.limits.messages({ limit: 1, perMs: 5000 });
  const post = () =>
    fetch(`${discord.apiRoot}/channels/${channel.id}/messages`, {
      method: "POST",
      headers: { authorization: `Bot ${discord.token}`, "content-type": "application/json", "user-agent": "test" },
      body: JSON.stringify({ content: "x" }),
    });
  const first = await post();
  expect([first.status, first.headers.get("x-ratelimit-remaining"), first.headers.has("x-ratelimit-bucket")]).toEqual([200, "0", true]);
  const second = await post();
  expect(second.status).toBe(429);
  expect(await second.json()).toMatchObject({ global: false, retry_after: expect.any(Number) as number });
});

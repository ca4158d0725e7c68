import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startIrcServer } from "../fakes/irc/server.ts";
import { startTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const HOST = "owner.invalid";

test("/restart is answered over every entrance, and the gateway restarts once", async () => {
  await using own = new AsyncDisposableStack();
  const bot = own.use(await startTelegram());
  bot.direct(bot.me);
  const server = own.use(await startIrcServer());
  const channels = {
    telegram: { enabled: true, botToken: bot.token, ackReaction: "", dmPolicy: "allowlist", allowFrom: [String(bot.me.id)] },
    irc: { enabled: true, host: "127.0.0.1", port: server.port, tls: false, nick: "claw", dmPolicy: "allowlist", allowFrom: [`olga@${HOST}`] },
  };
  const commands = { restart: true, ownerAllowFrom: [`telegram:${bot.me.id}`, `irc:olga@${HOST}`] };
  const lab = own.use(await startLabGateway({ sections: { channels, commands }, env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: bot.apiRoot } }));
  for (const channel of Object.keys(channels)) await expect.poll(async () => (await lab.account(channel))?.connected, PATIENCE).toBe(true);
  const { operator } = lab;
  const [own1] = server.connections;
  const call = operator.request("agent", { sessionKey: "agent:main:r1", message: "/restart", idempotencyKey: "r1" });
  await operator.request("chat.send", { sessionKey: "agent:main:r2", message: "/restart", idempotencyKey: "r2" });
  bot.say("/restart");
  own1!.send(`:olga!u@${HOST} PRIVMSG claw :/restart`);
  expect(JSON.stringify((await call).payload)).toMatch(/[Rr]estart/);
  const reply = await operator.next(({ event, payload }) => event === "chat" && payload!["runId"] === "r2" && payload!["state"] === "final");
  expect(JSON.stringify(reply.payload)).toMatch(/[Rr]estart/);
  await expect.poll(() => bot.messages(bot.me.id).filter(({ byBot, text }) => byBot && /[Rr]estart/.test(text)).length, PATIENCE).toBe(1);
  const heard = (): number =>
    server.connections.flatMap(({ lines }) => lines).filter(({ command, raw }) => command === "PRIVMSG" && /[Rr]estart/.test(raw)).length;
  await expect.poll(heard, PATIENCE).toBe(1);
  await operator.closed;
  expect(lab.model.requests).toEqual([]);
});

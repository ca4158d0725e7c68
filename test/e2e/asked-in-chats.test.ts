import { once } from "node:events";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTelegram, type FakeTelegram, type User } from "../fakes/telegram/index.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { startMockModel, type MockModel } from "../harness/mock-model.ts";

const TOKEN = "a-token-for-questions-0123456789";
const SOON = { timeout: 20_000, interval: 25 };
const KEY = "agent:main:web:asked";

let model: MockModel;
let telegram: FakeTelegram;
let operator: User;
let place: Place;
let gateway: GatewayProcess | undefined;
beforeEach(async () => {
  // One for each test: a gateway that is killed leaves answers that were planned for it.
  model = await startMockModel();
  telegram = await startTelegram();
  operator = telegram.person({ first_name: "Ada" });
  for (const user of [telegram.me, operator]) telegram.direct(user);
  place = makePlace();
});
afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  gateway = undefined;
  model[Symbol.dispose]();
  await telegram[Symbol.asyncDispose]();
  rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
});

const workspace = (): string => join(place.home, "workspace");

async function start(exec: Readonly<Record<string, unknown>>): Promise<GatewayProcess> {
  mkdirSync(workspace(), { recursive: true });
  const models = [{ id: "m1", name: "Mock One", contextWindow: 200_000, maxTokens: 8192 }];
  const account = { botToken: telegram.token, dmPolicy: "open", allowFrom: ["*"] };
  place.configure(
    JSON.stringify({
      gateway: { auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { workspace: workspace(), model: { primary: "mock/m1" } } },
      models: { providers: { mock: { baseUrl: model.url, apiKey: "none", api: "openai-completions", models } } },
      tools: { exec: { host: "gateway", ask: "always" } },
      commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] },
      channels: { telegram: { enabled: true, ackReaction: "", streamMode: "off", accounts: { main: account } } },
      approvals: { exec: { enabled: true, ...exec } },
    }),
  );
  gateway = await place.gateway({ env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
  await expect.poll(() => telegram.polling, SOON).toBe(true);
  return gateway;
}

const enterIt = ({ url }: GatewayProcess) => enter(url!, { token: TOKEN, scopes: ["operator.admin", "operator.write", "operator.read"] });

const said = ({ id }: User): readonly string[] =>
  telegram
    .messages(id)
    .filter(({ byBot }) => byBot)
    .map(({ text }) => text);
const questions = (user: User): readonly string[] => said(user).filter((text) => text.includes("Approval needed"));

test("what is asked on the page is asked in the operator's chat, whose button decides it; others who were asked hear of it", async () => {
  const target = { channel: "telegram", accountId: "main" };
  const running = await start({ mode: "targets", targets: [telegram.me, operator].map(({ id }) => ({ ...target, to: String(id) })) });
  await using client = await enterIt(running);
  await model.planCommand("touch made; echo '@say=It is made.'");
  await client.ask("chat.send", { sessionKey: KEY, message: "make it", idempotencyKey: "make" });
  await expect.poll(() => questions(operator), SOON).toHaveLength(1);
  await expect.poll(() => questions(telegram.me), SOON).toHaveLength(1);
  expect(questions(operator)[0]).toContain("touch made; echo");
  expect(existsSync(join(workspace(), "made"))).toBe(false);
  const { id: messageId } = telegram.messages(operator.id).find(({ text }) => text.includes("Approval needed"))!;
  telegram.press({ chatId: operator.id, messageId }, "allow-once", { from: operator });
  await expect.poll(() => existsSync(join(workspace(), "made")), SOON).toBe(true);
  await expect.poll(() => said(telegram.me).at(-1), SOON).toMatch(/^Approval [0-9a-f]{8} allowed once \(by telegram:\d+\): touch made/);
  await expect.poll(() => said(operator).at(-1), SOON).toMatch(/^Decided: allow-once for [0-9a-f]{8}\.$/);
  expect(questions(operator)).toHaveLength(1);
});

test("by default the chat that made the agent ask is asked, and no other", async () => {
  await start({});
  await model.planCommand("touch made");
  telegram.say("make it");
  await expect.poll(() => questions(telegram.me), SOON).toHaveLength(1);
  const [slug] = /[0-9a-f]{8}/.exec(questions(telegram.me)[0]!)!;
  telegram.say(`/approve ${slug} deny`);
  await expect.poll(() => said(telegram.me), SOON).toContain(`Decided: deny for ${slug}.`);
  expect(said(operator)).toEqual([]);
  expect(existsSync(join(workspace(), "made"))).toBe(false);
});

test("a chat that was asked hears that a restart denied it", async () => {
  const target = { channel: "telegram", accountId: "main", to: String(operator.id) };
  const first = await start({ mode: "targets", targets: [target] });
  await using client = await enterIt(first);
  await model.planCommand("touch made");
  await client.ask("chat.send", { sessionKey: KEY, message: "make it", idempotencyKey: "restart" });
  await expect.poll(() => questions(operator), SOON).toHaveLength(1);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  gateway = await place.gateway({ env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
  await expect.poll(() => said(operator).at(-1), SOON).toMatch(/^Approval [0-9a-f]{8} denied \(the gateway was restarted\): touch made$/);
  expect(existsSync(join(workspace(), "made"))).toBe(false);
});

test("a question that may have arrived is asked again, and its chat still hears that a restart denied it", async () => {
  const target = { channel: "telegram", accountId: "main", to: String(operator.id) };
  const first = await start({ mode: "targets", targets: [target] });
  await using client = await enterIt(first);
  await model.planCommand("touch made");
  telegram.fault("sendMessage", { silent: "after" });
  await client.ask("chat.send", { sessionKey: KEY, message: "make it", idempotencyKey: "unsure" });
  await expect.poll(() => questions(operator), SOON).toHaveLength(1);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  gateway = await place.gateway({ env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
  await expect.poll(() => said(operator), SOON).toHaveLength(3);
  expect(said(operator).slice(1)).toEqual([
    expect.stringMatching(/^\(repeat\?\) Approval needed/),
    expect.stringMatching(/denied \(the gateway was restarted\): touch made$/),
  ]);
});

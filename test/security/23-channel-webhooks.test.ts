/** Webhooks of channels that are signed over their body: a request that was overheard starts nothing, however its signature is written. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { signature, signedPost, startSlack, type FakeSlack, type User } from "../fakes/slack/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const PATH = "/slack/events";

let slack: FakeSlack;
let gateway: LabGateway;
let ada: User;
let chatId: string;

beforeAll(async () => {
  slack = await startSlack();
  ada = slack.world.person("ada", "Ada");
  const mallory = slack.world.person("mallory", "Mallory");
  chatId = slack.world.conversation("channel", "general", [ada.id, mallory.id, slack.world.bot.id]).id;
  gateway = await startLabGateway({
    sections: {
      channels: {
        slack: {
          mode: "http",
          botToken: slack.botToken,
          signingSecret: SECRET,
          ackReaction: "",
          dmPolicy: "allowlist",
          allowFrom: [ada.id],
          channels: { [chatId]: { users: [ada.id], requireMention: false } },
          slashCommand: { enabled: true },
        },
      },
    },
    env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot },
  });
  await isUp();
  slack.delivery.useHttp({ url: address(), secret: SECRET });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await slack?.[Symbol.asyncDispose]();
});

const isUp = (): Promise<void> => vi.waitFor(async () => expect((await gateway.account("slack"))?.connected).toBe(true), PATIENCE);
const address = (): string => `${gateway.url.replace(/^ws/, "http")}${PATH}`;
const asked = (word: string): number => gateway.model.requests.filter(({ user }) => user.includes(word)).length;
const answered = (word: string): number =>
  slack.world.messages(chatId).filter(({ text, botId }) => botId === slack.world.bot.botId && text.includes(word)).length;

async function post(body: string, headers: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(address(), { method: "POST", body, headers });
  return { status: response.status, body: await response.text() };
}

const seconds = (): number => Math.floor(Date.now() / 1000);
const json = { "content-type": "application/json" };

function eventBody(text: string, ts = `${seconds()}.${String(Math.floor(Math.random() * 1e6)).padStart(6, "0")}`): string {
  const { team, appId } = slack.world;
  const event = { type: "message", channel: chatId, channel_type: "channel", user: ada.id, text, ts, event_ts: ts };
  return JSON.stringify({ type: "event_callback", team_id: team.id, api_app_id: appId, event_id: `Ev${ts}`, event_time: seconds(), event });
}

function signed(body: string, time: number | string = seconds()): Record<string, string> {
  return { ...json, "x-slack-request-timestamp": String(time), "x-slack-signature": signature(SECRET, time, body) };
}

test("23: an event that Slack signs is answered once; a replay starts nothing, however its signature is written, also after a restart", async () => {
  const body = eventBody("say w-once");
  const headers = signed(body);
  expect((await post(body, headers)).status).toBe(200);
  await expect.poll(() => answered("w-once"), PATIENCE).toBe(1);
  const hex = headers["x-slack-signature"]!.slice(3);
  for (const written of [`v0=${hex}`, `v0=${hex.toUpperCase()}`, ` v0=${hex} `])
    expect((await post(body, { ...headers, "x-slack-signature": written })).status).toBe(200);
  await gateway.kill();
  await gateway.start();
  await isUp();
  slack.delivery.useHttp({ url: address(), secret: SECRET });
  // Nothing of the guard in memory is left: the inbox knows the message.
  expect((await post(body, headers)).status).toBe(200);
  expect((await post(body, signed(body, seconds() + 1))).status).toBe(200);
  await gateway.aside();
  expect([asked("w-once"), answered("w-once")]).toEqual([1, 1]);
});

test("23: what is not signed as it should be is refused, and starts nothing", async () => {
  const body = eventBody("say w-forged");
  const time = seconds();
  const right = signed(body, time);
  const hex = right["x-slack-signature"]!.slice(3);
  const wrong: readonly Record<string, string>[] = [
    json,
    { ...right, "x-slack-signature": "" },
    { ...right, "x-slack-signature": hex },
    { ...right, "x-slack-signature": `v1=${hex}` },
    { ...right, "x-slack-signature": `v0=${Buffer.from(hex, "hex").toString("base64")}` },
    { ...right, "x-slack-signature": `v0=${"0".repeat(64)}` },
    { ...right, "x-slack-signature": `v0=${hex.slice(2)}` },
    { ...right, "x-slack-request-timestamp": String(time + 1) },
    { ...right, "x-slack-request-timestamp": "" },
    signed(body, time - 400),
    signed(body, time + 400),
    signed(body, `${time}.5`),
    { ...right, "x-slack-signature": signature("", time, body) },
  ];
  for (const headers of wrong) expect((await post(body, headers)).status, JSON.stringify(headers)).toBe(401);
  expect((await post(`${body} `, right)).status).toBe(401);
  await gateway.aside();
  expect(asked("w-forged")).toBe(0);
});

test("23: a command and a button that come a second time are taken once", async () => {
  const { team, appId, bot } = slack.world;
  const mode = { url: address(), secret: SECRET };
  const command = {
    command: "/openclaw",
    text: "say w-command",
    user_id: ada.id,
    channel_id: chatId,
    team_id: team.id,
    api_app_id: appId,
    trigger_id: "1.2.abc",
    response_url: `${slack.server.url}/commands/${chatId}/${ada.id}/r1`,
  };
  const { ts } = slack.world.post({ channel: chatId, text: "Pick", user: bot.id, botId: bot.botId });
  const action = { type: "button", action_id: "openclaw:0", block_id: "b", value: "say w-button", action_ts: `${seconds()}.000001` };
  const press = {
    type: "block_actions",
    api_app_id: appId,
    trigger_id: "1.3.abc",
    team: { id: team.id },
    user: { id: ada.id },
    container: { message_ts: ts, channel_id: chatId },
    channel: { id: chatId },
    message: { ts },
    actions: [action],
  };
  for (const sent of [signedPost(mode, "slash_commands", command), signedPost(mode, "interactive", press)]) {
    expect(await post(sent.body, sent.headers)).toEqual({ status: 200, body: "" });
    expect((await post(sent.body, sent.headers)).status).toBe(200);
  }
  // Signed again, as Slack does when it tries again.
  const later = Date.now() + 2000;
  for (const sent of [signedPost(mode, "slash_commands", command, later), signedPost(mode, "interactive", press, later)])
    expect((await post(sent.body, sent.headers)).status).toBe(200);
  await expect.poll(() => [answered("w-command"), answered("w-button")], PATIENCE).toEqual([1, 1]);
  await gateway.aside();
  expect([asked("w-command"), asked("w-button")]).toEqual([1, 1]);
  // What only one person may see is in a session of its own, not in the channel's.
  const { payload } = await gateway.operator.request("sessions.list", {});
  expect(JSON.stringify(payload)).toContain(`agent:main:slack:slash:${ada.id.toLowerCase()}`);
  // Refusals of other tests are answered in the same way.
  const answers = slack.responses().filter(({ body: sent }) => JSON.stringify(sent).includes("w-command"));
  expect(answers.map(({ body: sent }) => sent["response_type"])).toEqual(["ephemeral"]);
});

test("23: Slack's questions about the address are answered only when they are signed", async () => {
  const challenge = JSON.stringify({ type: "url_verification", challenge: "c-1", token: "x" });
  expect(await post(challenge, signed(challenge))).toEqual({ status: 200, body: '{"challenge":"c-1"}' });
  expect((await post(challenge, json)).status).toBe(401);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect(await post("ssl_check=1&token=x", { ...signed("ssl_check=1&token=x"), ...form })).toEqual({ status: 200, body: "" });
  expect((await post("{broken", signed("{broken"))).status).toBe(400);
  expect((await fetch(address())).status).toBe(405);
});

test("27: what a stranger does in HTTP mode reaches no model", async () => {
  const mallory = [...slack.world.users.values()].find(({ name }) => name === "mallory")!;
  const { people, world } = slack;
  const { ts } = people.say("say w-bad", { by: mallory, channel: chatId });
  people.edit(chatId, ts, "w-bad edit");
  people.react(chatId, ts, "tada", mallory);
  people.pin(chatId, ts, mallory);
  people.slash("/openclaw", "say w-bad", mallory, chatId);
  const blocks = [{ type: "actions", elements: [{ type: "button", action_id: "openclaw:0", text: { type: "plain_text", text: "x" }, value: "say w-bad" }] }];
  const own = world.post({ channel: chatId, text: "Pick", blocks, user: world.bot.id, botId: world.bot.botId });
  people.press(chatId, own.ts, mallory, "say w-bad");
  people.submit(mallory, { a: "w-bad" });
  people.say("say w-bad", { by: mallory, channel: world.direct(mallory.id).id });
  people.join(chatId, mallory);
  people.remove(chatId, ts);
  people.say("say w-good", { by: ada, channel: chatId });
  await expect.poll(() => answered("w-good"), PATIENCE).toBe(1);
  await expect.poll(() => slack.delivery.all.every(({ isAcked }) => isAcked), PATIENCE).toBe(true);
  await gateway.aside();
  for (const { body } of gateway.model.requests) expect(body).not.toMatch(/w-bad|mallory|Mallory/);
  expect(world.messages(world.direct(mallory.id).id).filter(({ botId }) => botId === world.bot.botId)).toEqual([]);
});

test("23: without a signing secret no address is opened", async () => {
  await using other = await startLabGateway({
    sections: {
      gateway: { ...(gateway.sections["gateway"] as object), port: await freePort() },
      channels: { slack: { mode: "http", botToken: slack.botToken, signingSecret: "" } },
    },
    env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot },
  });
  const body = eventBody("say w-none");
  const headers = { ...json, "x-slack-request-timestamp": String(seconds()), "x-slack-signature": signature("", seconds(), body) };
  const response = await fetch(`${other.url.replace(/^ws/, "http")}${PATH}`, { method: "POST", body, headers });
  expect(response.status).not.toBe(200);
  expect(other.model.requests).toEqual([]);
});

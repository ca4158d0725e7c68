import { once } from "node:events";
import { request } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { readStyled } from "./container.ts";
import { type FakeSignal, type Person, startSignal } from "./index.ts";

let signal: FakeSignal;
let anna: Person;
beforeEach(async () => {
  signal = await startSignal();
  anna = signal.world.person({ number: "+491701234567", name: "Anna" });
});
afterEach(() => signal[Symbol.asyncDispose]());

async function rpc(body: unknown, headers: Record<string, string> = { "content-type": "application/json" }) {
  const response = await fetch(`${signal.url}/api/v1/rpc`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : (JSON.parse(text) as unknown) };
}
const call = (method: string, params: object = {}, id = "1") => ({ jsonrpc: "2.0", id, method, params: { account: signal.world.me.number, ...params } });

/** Text of a stream of events until it contains something. */
async function heard(lastId: string | undefined, wanted: string, act: () => void = () => {}): Promise<string> {
  const stop = new AbortController();
  const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
  const response = await fetch(`${signal.url}/api/v1/events?account=${encodeURIComponent(signal.world.me.number!)}`, { headers, signal: stop.signal });
  act();
  let text = "";
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.includes(wanted)) break;
  }
  stop.abort();
  return text;
}

test("calls are answered as JSON-RPC, one by one or together, and notifications with 201", async () => {
  expect(await rpc(call("version"))).toMatchObject({ status: 200, json: { jsonrpc: "2.0", id: "1", result: { version: "0.14.6" } } });
  expect(await rpc([call("version", {}, "1"), call("nothing", {}, "2")])).toMatchObject({ json: [{ id: "1" }, { id: "2", error: { code: -32_601 } }] });
  expect(await rpc({ jsonrpc: "2.0", method: "version" })).toEqual({ status: 201, json: undefined });
  expect(await rpc({ jsonrpc: "2.0" })).toMatchObject({ json: { error: { code: -32_600 } } });
  expect(await rpc(call("version"), {})).toMatchObject({ status: 415 });
  expect((await fetch(`${signal.url}/api/v1/rpc`)).status).toBe(405);
  expect((await fetch(`${signal.url}/api/v1/check`)).status).toBe(200);
});

test("another host and an account that is not there are refused", async () => {
  const asked = request(`${signal.url}/api/v1/check`, { headers: { host: "evil.example.com" } }).end();
  const [answer] = (await once(asked, "response")) as [{ statusCode: number; resume(): void }];
  answer.resume();
  expect(answer.statusCode).toBe(421);
  expect((await fetch(`${signal.url}/api/v1/events?account=%2B1999`)).status).toBe(400);
  expect(await rpc(call("send", { account: "+1999", recipient: [anna.number], message: "x" }))).toMatchObject({ json: { error: { code: -32_602 } } });
});

test("messages are sent, edited, taken back and reacted to, under any spelling of their parameters", async () => {
  const sent = await rpc(call("send", { recipient: [anna.number], message: "hi", textStyles: ["0:2:BOLD"], quoteTimestamp: 5, quoteAuthor: anna.uuid }));
  const { timestamp } = (sent.json as { result: { timestamp: number } }).result;
  expect(signal.world.sent(anna.uuid)).toMatchObject([{ text: "hi", styles: ["0:2:BOLD"], quote: { timestamp: 5 } }]);
  await rpc(call("send", { recipient: anna.uuid, message: "ho", "edit-timestamp": timestamp }));
  expect(signal.world.sent(anna.uuid)).toMatchObject([{ text: "ho", edits: 1, timestamp }]);
  await rpc(call("sendReaction", { recipient: [anna.number], emoji: "👍", targetAuthor: anna.number, targetTimestamp: 7 }));
  expect(signal.world.reactions()).toMatchObject([{ emoji: "👍", author: anna.uuid, timestamp: 7 }]);
  await rpc(call("remoteDelete", { recipient: [anna.number], targetTimestamp: timestamp }));
  expect(signal.world.sent(anna.uuid)).toEqual([]);
});

test("a message that nobody gets is an error with its results", async () => {
  signal.outcomes.next({ type: "RATE_LIMIT_FAILURE", retryAfterSeconds: 9 });
  const to = { recipient: [anna.number], message: "x" };
  expect(await rpc(call("send", to))).toMatchObject({
    json: { error: { code: -5, data: { response: { results: [{ type: "RATE_LIMIT_FAILURE", retryAfterSeconds: 9 }] } } } },
  });
  expect(await rpc(call("send", { ...to, recipient: ["+4915550000"] }))).toMatchObject({ json: { error: { code: -1 } } });
  signal.outcomes.limit({ messages: 1, perMs: 60_000 });
  expect(await rpc(call("send", to))).toMatchObject({ json: { result: { results: [{ type: "SUCCESS" }] } } });
  expect(await rpc(call("send", to))).toMatchObject({ json: { error: { code: -5 } } });
});

test("events have ids; a listener gets those after its last one, or all that are kept", async () => {
  const first = await heard(undefined, "one", () => void signal.world.say(anna, "one"));
  expect(first).toMatch(/id:1\nevent:receive\ndata:\{.*"message":"one".*\}\n\n/);
  signal.world.say(anna, "two");
  const second = await heard("1", "two");
  expect(second).not.toContain('"one"');
  expect(await heard("0", "two")).toContain('"one"');
  signal.forget();
  signal.world.say(anna, "three");
  expect(await heard("2", "three")).not.toContain('"two"');
});

test("the container sends, styles and receives", async () => {
  await using container = await startSignal({ form: "container" });
  const bert = container.world.person({ number: "+491700000000", name: "Bert" });
  const group = container.world.group("Team", [bert]);
  const socket = new WebSocket(`${container.url.replace("http", "ws")}/v1/receive/${encodeURIComponent(container.world.me.number!)}`);
  await once(socket, "open");
  const message = once(socket, "message");
  container.world.say(bert, "hello", { group });
  expect(JSON.parse(String((await message)[0]))).toMatchObject({ envelope: { dataMessage: { message: "hello", groupInfo: { groupId: group.id } } } });
  socket.close();
  const recipient = `group.${Buffer.from(group.id).toString("base64")}`;
  const body = JSON.stringify({ number: container.world.me.number, recipients: [recipient], message: "**bold** and plain", text_mode: "styled" });
  const response = await fetch(`${container.url}/v2/send`, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(response.status).toBe(201);
  expect(container.world.sent(group.id)).toMatchObject([{ text: "bold and plain", styles: ["0:4:BOLD"] }]);
  expect(readStyled("a ~**x**~ ||y|| `z`").styles).toEqual(["2:1:BOLD", "2:1:STRIKETHROUGH", "4:1:SPOILER", "6:1:MONOSPACE"]);
});

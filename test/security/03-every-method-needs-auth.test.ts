import { afterAll, beforeAll, expect, test } from "vitest";
import { covers, METHODS, SCOPES, type MethodName, type Scope } from "../../src/protocol/index.ts";
import { enter, METHOD_NAMES, visit, type DeviceClient } from "../harness/device-client.ts";
import { openClient } from "../harness/gateway-client.ts";
import { start, TOKEN, type Started } from "./start.ts";

let gateway: Started;
beforeAll(async () => {
  // How guesses are slowed down is another class.
  gateway = await start({ gateway: { auth: { token: TOKEN, rateLimit: { maxAttempts: 10_000 } } } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const NODE = { id: "node-host", mode: "node", version: "1", platform: "linux" } as const;
const asNode = () => enter(gateway.url, { token: TOKEN, role: "node", scopes: [], params: { client: NODE } });
/** Nothing a handler could use: what passes the guard is stopped by the schema, or by the missing handler. */
const HOSTILE = { __canary: true };

async function answerTo(client: DeviceClient, method: string): Promise<string> {
  const { ok, error } = await client.request(method, HOSTILE);
  return ok ? "ok" : error!.message;
}

test("3: the list of methods is the whole one", () => {
  expect(METHOD_NAMES.length).toBeGreaterThan(95);
});

test("3: before connect no method is answered but connect", { timeout: 120_000 }, async () => {
  for (const method of [...METHOD_NAMES, "nothing", "__proto__", "constructor", "connect ", "CONNECT"]) {
    await using client = await openClient(gateway.url);
    const { ok, error } = await client.request(method, {});
    expect([method, ok, error?.message]).toEqual([method, false, "invalid handshake: first request must be connect"]);
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(client.frames.filter(({ type }) => type === "res")).toHaveLength(1);
  }
});

test("3: with a bad token no method is answered, before or behind connect", { timeout: 120_000 }, async () => {
  for (const method of METHOD_NAMES) {
    await using client = await visit(gateway.url, { token: "not the token", scopes: ["operator.admin"] });
    expect([method, client.answer.error?.message]).toEqual([method, expect.stringMatching(/^unauthorized: /)]);
    client.send(JSON.stringify({ type: "req", id: "behind", method, params: {} }));
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(client.frames.filter(({ id }) => id === "behind")).toEqual([]);
  }
});

test("3: a request sent together with a bad connect is not answered either", async () => {
  await using client = await openClient(gateway.url);
  client.send(JSON.stringify({ type: "req", id: "c", method: "connect", params: { minProtocol: 3, maxProtocol: 3, client: NODE, auth: { token: "x" } } }));
  client.send(JSON.stringify({ type: "req", id: "m", method: "config.get", params: {} }));
  await client.closed;
  expect(client.frames.filter(({ ok }) => ok === true)).toEqual([]);
});

/** The scopes that do not cover what a method needs, each by itself, and none at all. */
const tooLow = (needed: Scope): readonly (readonly Scope[])[] => [[], ...SCOPES.filter((scope) => !covers([scope], needed)).map((scope) => [scope])];

test.each([[], ...SCOPES.map((scope) => [scope])].map((scopes) => ({ scopes })))("3: $scopes opens what it covers and nothing else", async ({ scopes }) => {
  await using client = await enter(gateway.url, { token: TOKEN, scopes });
  for (const method of METHOD_NAMES) {
    const { access } = METHODS[method];
    const answer = await answerTo(client, method);
    if (access === "node") expect([method, answer]).toEqual([method, "unauthorized role: operator"]);
    else if (!covers(scopes, access)) expect([method, answer]).toEqual([method, `missing scope: ${access}`]);
    else expect([method, answer]).toEqual([method, expect.not.stringMatching(/^missing scope|^unauthorized|handshake/)]);
  }
});

test("3: every operator method has been tried with a scope that is too low, and with the right one", () => {
  for (const method of METHOD_NAMES) {
    const { access } = METHODS[method];
    if (access === "node") continue;
    expect(SCOPES).toContain(access);
    expect(tooLow(access).length).toBeGreaterThan(1);
  }
});

test("3: a node uses the methods of nodes and no others; an operator none of them", async () => {
  await using node = await asNode();
  await using operator = await enter(gateway.url, { token: TOKEN, scopes: [...SCOPES] });
  const own = METHOD_NAMES.filter((method) => METHODS[method].access === "node");
  expect(own).toEqual(expect.arrayContaining(["node.invoke.result", "node.event", "skills.bins"] satisfies MethodName[]));
  for (const method of METHOD_NAMES) {
    const answer = await answerTo(node, method);
    if (own.includes(method)) expect([method, answer]).toEqual([method, expect.not.stringMatching(/^missing scope|^unauthorized/)]);
    else expect([method, answer]).toEqual([method, "unauthorized role: node"]);
    if (own.includes(method)) expect(await answerTo(operator, method)).toBe("unauthorized role: operator");
  }
});

test("3: a node that asks for scopes gets none", async () => {
  await using node = await enter(gateway.url, { token: TOKEN, role: "node", scopes: [...SCOPES], params: { client: NODE } });
  expect(node.answer.payload!["auth"]).toMatchObject({ role: "node", scopes: [] });
  expect(await answerTo(node, "config.get")).toBe("unauthorized role: node");
});

test("3: names of no method tell nothing to those without admin", async () => {
  const names = ["nothing", "__proto__", "constructor", "toString", "hasOwnProperty", "config.get ", "CONFIG.GET", "config.get\u0000", "config..get"];
  await using reader = await enter(gateway.url, { token: TOKEN, scopes: ["operator.read", "operator.write", "operator.pairing"] });
  await using admin = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin"] });
  for (const name of names) {
    expect([name, await answerTo(reader, name)]).toEqual([name, "missing scope: operator.admin"]);
    expect([name, await answerTo(admin, name)]).toEqual([name, `unknown method: ${name}`]);
  }
});

test("3: the secret without a device opens no method", async () => {
  await using client = await enter(gateway.url, { device: null, token: TOKEN, scopes: [...SCOPES] });
  for (const method of METHOD_NAMES)
    expect([method, await answerTo(client, method)]).toEqual([method, expect.stringMatching(/^missing scope|^unauthorized role/)]);
});

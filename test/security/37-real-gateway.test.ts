/** Class 37 on a real gateway: who may have commands run unasked, or out of the sandbox. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { METHODS } from "../../src/protocol/index.ts";
import { AUTHORITY, missingFor } from "../../src/tools/index.ts";
import { startTelegram, type FakeTelegram, type User } from "../fakes/telegram/index.ts";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { startMockModel, type MockModel } from "../harness/mock-model.ts";

const TOKEN = "a-token-for-authority-0123456789";
const SOON = { timeout: 20_000, interval: 25 };
const LOOSE = "/exec host=gateway security=full ask=off";

let model: MockModel;
let telegram: FakeTelegram;
let place: Place;
let gateway: GatewayProcess;
let admin: DeviceClient;
let writer: DeviceClient;
let owner: User;
let paired: User;
let anybody: User;
let made = 0;

const workspace = (): string => join(place.home, "workspace");

async function open(): Promise<void> {
  model = await startMockModel();
  telegram = await startTelegram();
  [owner, paired, anybody] = [telegram.me, telegram.person({ first_name: "Paula" }), telegram.person({ first_name: "Any" })];
  for (const user of [owner, paired, anybody]) telegram.direct(user);
  place = makePlace();
  onTestFinished(close);
  mkdirSync(workspace());
  place.configure(
    JSON.stringify({
      gateway: { auth: { mode: "token", token: TOKEN }, reload: { debounceMs: 10 } },
      agents: {
        defaults: { workspace: workspace(), skipBootstrap: true, model: { primary: "mock/m1" } },
        list: [
          { id: "main", default: true },
          // A sandbox that cannot start: what runs all the same has left it.
          { id: "boxed", workspace: workspace(), sandbox: { mode: "all", backend: "bwrap", bwrap: { command: join(place.home, "no-bwrap") } } },
        ],
      },
      models: {
        providers: {
          mock: { baseUrl: model.url, apiKey: "none", api: "openai-completions", models: [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }] },
        },
      },
      session: { dmScope: "per-channel-peer" },
      channels: { telegram: { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "pairing" } },
    }),
  );
  gateway = await place.gateway({ env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
  await expect.poll(() => telegram.polling, SOON).toBe(true);
  admin = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.admin", "operator.write", "operator.read", "operator.approvals", "operator.pairing"] });
  writer = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.write", "operator.read"] });
}
async function close(): Promise<void> {
  for (const client of [admin, writer]) await client?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  model[Symbol.dispose]();
  await telegram[Symbol.asyncDispose]();
  rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
}

const heard = ({ id }: User): readonly string[] =>
  telegram
    .messages(id)
    .filter(({ byBot }) => byBot)
    .map(({ text }) => text);

/** Says something and waits for the next answer. */
async function tell(user: User, text: string): Promise<string> {
  const before = heard(user).length;
  telegram.say(text, { from: user, chat: user.id });
  await expect.poll(() => heard(user).length, SOON).toBeGreaterThan(before);
  return heard(user).at(-1)!;
}

async function pending(): Promise<readonly Record<string, unknown>[]> {
  return ((await admin.request("exec.approval.list", {})).payload as { approvals: readonly Record<string, unknown>[] }).approvals;
}

/** Has the agent run a command, and tells whether it ran unasked. */
async function runsUnasked(ask: () => Promise<unknown>): Promise<boolean> {
  const file = join(workspace(), `made-${(made += 1)}`);
  const before = (await pending()).length;
  // The answer comes once the model has the result of the call.
  await model.plan({ tool: "exec", args: JSON.stringify({ command: `touch ${file}` }) }, { say: "Done." });
  await ask();
  const ran = existsSync(file);
  if (!ran) expect((await pending()).length).toBe(before + 1);
  return ran;
}

const bySender = (user: User) => (): Promise<string> => tell(user, "make it");

/** Over a client, in a session of its agent. */
async function send(client: DeviceClient, sessionKey: string, message: string): Promise<string> {
  const idempotencyKey = `m${(made += 1)}`;
  const sent = await client.request("chat.send", { sessionKey, message, idempotencyKey });
  expect(sent.ok).toBe(true);
  await client.request("agent.wait", { runId: idempotencyKey, timeoutMs: 20_000 });
  const { messages } = (await admin.request("chat.history", { sessionKey, limit: 5 })).payload as { messages: readonly unknown[] };
  return JSON.stringify(messages.at(-1));
}

/** Approves a sender by the code that they were sent. */
async function letIn(user: User, more: object = {}, by: DeviceClient = admin) {
  const said = await tell(user, "hello");
  const [code] = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(said)!;
  return by.request("channels.pairing.approve", { channel: "telegram", code, ...more });
}

/** Who is let in is nobody's owner, and cannot switch the questions off; the refusal prints what to run. */
async function ofPaired(): Promise<void> {
  expect((await letIn(paired)).payload).toMatchObject({ owner: false, hasOwner: false });
  expect(await tell(paired, LOOSE)).toContain(`openclaw pairing owner telegram ${paired.id}`);
  expect(await runsUnasked(bySender(paired))).toBe(false);
  expect(await tell(paired, "/exec security=deny")).toContain("security=deny");
  const [entry] = await pending();
  expect(await tell(paired, `/approve ${String(entry!["id"])} allow-once`)).toContain("Only an owner");
}

/** To make a sender the owner takes operator.admin; the gateway goes on without a restart, and the owner's word counts. */
async function ofOwner(): Promise<void> {
  await using clerk = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.pairing", "operator.write"] });
  const said = await tell(owner, "hello");
  const [code] = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(said)!;
  const refused = await clerk.request("channels.pairing.approve", { channel: "telegram", code, owner: true });
  expect(refused.error?.message).toContain("operator.admin");
  expect((await clerk.request("channels.pairing.owner", { channel: "telegram", senderId: "1" })).error?.message).toContain("operator.admin");
  const done = await admin.request("channels.pairing.approve", { channel: "telegram", code, owner: true });
  expect(done.payload).toMatchObject({ owner: true, hasOwner: true, senderId: String(owner.id) });
  expect(await runsUnasked(bySender(owner))).toBe(false);
  expect(await tell(owner, LOOSE)).toContain("security=full ask=off");
  expect(await runsUnasked(bySender(owner))).toBe(true);
  // Others are as they were.
  const before = heard(paired).length;
  telegram.say("/exec ask=off", { from: paired, chat: paired.id });
  expect(await runsUnasked(bySender(owner))).toBe(true);
  expect(heard(paired)).toHaveLength(before);
}

/** The configuration narrows what was granted, at once. */
async function ofNarrowerConfig(): Promise<void> {
  reconfigure({ tools: { exec: { ask: "always" } } });
  await expect.poll(() => runsUnasked(bySender(owner)), SOON).toBe(false);
  expect(await tell(owner, "/exec ask=off")).toContain("openclaw config set tools.exec.ask off");
  reconfigure({ tools: {} });
}

/** Replaces sections of the file, as an editor does; the gateway goes on. */
function reconfigure(sections: Readonly<Record<string, unknown>>): void {
  const written = JSON.parse(readFileSync(place.configPath, "utf8")) as Record<string, unknown>;
  place.configure(JSON.stringify({ ...written, ...sections }));
}

/** Everybody whom * lets in may talk and loosen nothing, also in the owner's own session. */
async function ofEverybody(): Promise<void> {
  const account = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "open", allowFrom: ["*"] };
  const commands = { ownerAllowFrom: [`telegram:${owner.id}`], allowFrom: { "*": ["*"] } };
  reconfigure({ session: { dmScope: "main" }, commands, channels: { telegram: account } });
  // Asked again until it holds: by another sender, so that no late answer is taken for one that follows.
  const probe = telegram.person({ first_name: "Probe" });
  telegram.direct(probe);
  const asking = (): string => {
    telegram.say("/status", { from: probe, chat: probe.id });
    return heard(probe).join("\n");
  };
  await expect.poll(asking, { timeout: 20_000, interval: 1000 }).toContain("Session: agent:main:main");
  await expect.poll(() => telegram.polling, SOON).toBe(true);
  expect(await tell(anybody, LOOSE)).toContain("Only an owner may loosen exec settings");
  expect(await runsUnasked(bySender(anybody))).toBe(false);
  expect(await tell(owner, LOOSE)).toContain("applies to messages from owners only");
  expect(await runsUnasked(bySender(owner))).toBe(true);
  expect(await runsUnasked(bySender(anybody))).toBe(false);
}

/** A client that may only write loosens nothing and leaves no sandbox; nobody leaves it but by the configuration. */
async function ofClients(): Promise<void> {
  const [free, boxed] = ["agent:main:web", "agent:boxed:web"];
  for (const key of [free, boxed]) expect((await admin.request("sessions.patch", { key, verboseLevel: "off" })).ok).toBe(true);
  expect(await send(writer, free, LOOSE)).toContain("operator.admin");
  await writer.request("agent", { sessionKey: free, message: LOOSE, idempotencyKey: "agent-loose" });
  await writer.request("agent.wait", { runId: "agent-loose", timeoutMs: 20_000 });
  expect(await runsUnasked(() => send(writer, free, "make it"))).toBe(false);
  expect((await writer.request("sessions.patch", { key: free, execAsk: "off" })).error?.message).toBe("missing scope: operator.admin");
  expect(await send(admin, free, LOOSE)).toContain("security=full ask=off");
  expect(await runsUnasked(() => send(admin, free, "make it"))).toBe(true);
  expect(await runsUnasked(() => send(writer, free, "make it"))).toBe(false);

  for (const client of [writer, admin]) {
    expect(await send(client, boxed, LOOSE)).toMatch(/operator\.admin|runs in a sandbox/);
    const file = join(workspace(), `made-${(made += 1)}`);
    await model.plan({ tool: "exec", args: JSON.stringify({ command: `touch ${file}`, host: "gateway" }) }, { say: "Done." });
    await send(client, boxed, "make it");
    await model.plan({ tool: "exec", args: JSON.stringify({ command: `touch ${file}` }) }, { say: "Done." });
    await send(client, boxed, "make it");
    expect([existsSync(file), (await pending()).some(({ request }) => JSON.stringify(request).includes(file))]).toEqual([false, false]);
  }
  const patched = await admin.request("sessions.patch", { key: boxed, execHost: "gateway" });
  expect(patched.error?.message).toContain("runs in a sandbox");
}

const SCOPES: readonly string[] = ["operator.read", "operator.write", "operator.approvals", "operator.pairing"];

/** Every method that loosens execution × what a client may do: the scope that is missing is named, and nothing else is looked at before. */
async function ofMethods(): Promise<void> {
  const before = readFileSync(place.configPath, "utf8");
  for (const scopes of [...SCOPES.map((scope) => [scope]), SCOPES, ["operator.admin"]]) {
    await using client = await enter(gateway.url!, { token: TOKEN, scopes: [...scopes] });
    for (const [method, need] of Object.entries(AUTHORITY.method)) {
      const declared = METHODS[method as keyof typeof METHODS].access;
      const missing = declared === "operator.pairing" ? (scopes.includes(declared) ? undefined : declared) : missingFor(need, { owner: true, scopes });
      const { error } = await client.request(method, {});
      const expected = scopes.includes("operator.admin") ? undefined : missing && `missing scope: ${missing}`;
      const found = error?.message.startsWith("missing scope") ? error.message : undefined;
      expect([method, scopes, found]).toEqual([method, scopes, expected]);
    }
  }
  expect(readFileSync(place.configPath, "utf8")).toBe(before);
}

/** The tool `gateway` is neither offered to turns of others than the owner nor run for them when the model calls it all the same. */
async function ofTools(): Promise<void> {
  const call = { tool: "gateway", args: JSON.stringify({ action: "config.patch", raw: '{ tools: { exec: { ask: "off" } } }' }) };
  const before = readFileSync(place.configPath, "utf8");
  for (const [who, ask, offered] of [
    ["owner", bySender(owner), true],
    ["anybody", bySender(anybody), false],
    ["writer", (): Promise<string> => send(writer, "agent:main:web", "make it"), false],
  ] as const) {
    await model.plan({ say: "Done." });
    await ask();
    expect([who, /"name":\s*"gateway"/.test(await model.last())]).toEqual([who, offered]);
    if (offered) continue;
    await model.plan(call, { say: "Done." });
    await ask();
    expect([who, readFileSync(place.configPath, "utf8") === before]).toEqual([who, true]);
  }
}

test(
  "37: on one gateway, one after the other: paired, owner, a narrower configuration, everybody, clients, methods, tools and the sandbox",
  { timeout: 120_000 },
  async () => {
    await open();
    await ofPaired();
    await ofOwner();
    await ofNarrowerConfig();
    await ofEverybody();
    await ofClients();
    await ofMethods();
    await ofTools();
  },
);

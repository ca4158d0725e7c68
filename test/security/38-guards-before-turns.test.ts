import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DeviceClient } from "../harness/device-client.ts";
import type { GatewayProcess } from "../harness/gateway-process.ts";
import { makeGuardedPlace, POLICE, SLOW, TOKEN, type GuardedPlace, type PlantedPlugin } from "../harness/guarded-gateway.ts";
import { ask, bearer, type Reply } from "./start.ts";

const JSON_HEADERS = { "content-type": "application/json" };
const SOON = { timeout: 10_000, interval: 20 };

const post = (there: GuardedPlace, path: string, body: object): Promise<Reply> =>
  ask(there.url, path, { method: "POST", headers: { ...bearer(TOKEN), ...JSON_HEADERS }, body: JSON.stringify(body) });

/** Looked at when it is waited for. */
const later = <T>(answer: Promise<T>): (() => Promise<T>) => {
  answer.catch(() => {});
  return () => answer;
};

const probe = async (there: GuardedPlace, path: string): Promise<string> => {
  const { status, body } = await ask(there.url, path).catch(() => ({ status: 0, body: "{}" }));
  return `${status} ${String((JSON.parse(body) as { status?: string }).status)}`;
};

const writing = (there: GuardedPlace, name: string): string => there.orders([{ name: "write", args: { path: there.inside(name), content: "owned" } }]);

/** The results of calls that the model was sent, in any of its requests. */
const toolAnswers = (there: GuardedPlace): readonly string[] =>
  there.model.requests.flatMap(({ messages }) => messages.flatMap(({ role, content }) => (role === "tool" ? [JSON.stringify(content)] : [])));

/** Every entrance that starts a turn or runs a tool. Each leaves a message with its own name in it; what is given resolves with its end. */
const ENTRANCES: readonly (readonly [string, (there: GuardedPlace, client: DeviceClient) => Promise<() => Promise<unknown>>])[] = [
  [
    "chat.send",
    async (there, client) => {
      const sent = await client.request("chat.send", { sessionKey: "agent:main:chat", message: writing(there, "chat.send"), idempotencyKey: "run-chat" });
      expect(sent.ok, JSON.stringify(sent)).toBe(true);
      return () => client.request("agent.wait", { runId: "run-chat", timeoutMs: 20_000 });
    },
  ],
  [
    "agent",
    async (there, client) => {
      const { promise: accepted, resolve } = Promise.withResolvers<unknown>();
      void client.next(({ id, payload }) => id === "asked" && payload?.["status"] === "accepted").then(resolve);
      const end = later(client.request("agent", { sessionKey: "agent:main:agent", message: writing(there, "agent"), idempotencyKey: "run-agent" }, "asked"));
      await accepted;
      return end;
    },
  ],
  [
    "/v1/chat/completions",
    async (there) => {
      return later(post(there, "/v1/chat/completions", { model: "openclaw", messages: [{ role: "user", content: writing(there, "completions") }] }));
    },
  ],
  [
    "/v1/responses",
    async (there) => {
      return later(post(there, "/v1/responses", { model: "openclaw", input: writing(there, "responses") }));
    },
  ],
  [
    "/tools/invoke",
    async (there) => {
      return later(post(there, "/tools/invoke", { tool: "session_status", args: {} }));
    },
  ],
];
/** Entrances whose message makes the model call `write`. */
const WRITES = ["chat.send", "agent", "completions", "responses", "channel"];

/** A plugin with a channel that hands a message over while it registers, before the slow one has. */
const EAGER: PlantedPlugin = {
  id: "eager",
  manifest: { channels: ["eager"] },
  code: `
    const meta = { id: "eager", label: "Eager", selectionLabel: "Eager", docsPath: "/channels/eager", blurb: "" };
    api.registerChannel({ plugin: { id: "eager", meta, capabilities: { chatTypes: ["direct"] },
      config: { listAccountIds: () => ["default"], resolveAccount: () => ({}) },
      outbound: { deliveryMode: "direct", sendText: async () => ({ channel: "eager", messageId: "m" }) } } });
    if (existsSync(home + "/order")) {
      const text = readFileSync(home + "/order", "utf8");
      const { reply, routing } = api.runtime.channel;
      const cfg = api.runtime.config.loadConfig();
      const { sessionKey, accountId } = routing.resolveAgentRoute({ cfg, channel: "eager", peer: { kind: "direct", id: "ada" } });
      const ctx = reply.finalizeInboundContext({ Body: text, RawBody: text, CommandBody: text, From: "eager:ada", To: "eager:chat", SessionKey: sessionKey,
        AccountId: accountId, ChatType: "direct", Provider: "eager", Surface: "eager", SenderId: "ada", MessageSid: "in-1", OriginatingChannel: "eager",
        OriginatingTo: "chat", CommandAuthorized: true });
      const deliver = async (payload) => appendFileSync(home + "/delivered", String(payload.text));
      void reply.dispatchReplyWithBufferedBlockDispatcher({ ctx, cfg, dispatcherOptions: { deliver } });
    }
  `,
};

describe("38: a slow plugin and one that polices tool calls", () => {
  let there: GuardedPlace;
  beforeAll(async () => {
    there = await makeGuardedPlace();
    for (const plugin of [EAGER, SLOW, POLICE]) there.plant(plugin);
    there.configure();
  });
  afterAll(() => there[Symbol.asyncDispose]());

  /** A gateway that listens and whose slow plugin has not registered. */
  async function starting(): Promise<{ readonly ready: Promise<GatewayProcess>; readonly client: DeviceClient }> {
    for (const name of ["go", "pid"]) rmSync(join(there.place.home, name), { force: true });
    const ready = there.start();
    await expect.poll(() => existsSync(join(there.place.home, "pid")) && probe(there, "/healthz"), SOON).toBe("200 live");
    expect(await probe(there, "/health")).toBe("503 starting");
    expect(await probe(there, "/readyz")).toBe("503 starting");
    return { ready, client: await there.enter() };
  }

  test("38: whatever comes in before every plugin has registered is accepted, waits, and is policed", async () => {
    const asked = there.model.requests.length;
    const order = join(there.place.home, "order");
    writeFileSync(order, writing(there, "channel"));
    const { ready, client } = await starting();
    rmSync(order);
    const ends = await Promise.all(ENTRANCES.map(([, begin]) => begin(there, client)));
    // Time for a turn to begin, if one would.
    await expect.poll(async () => (await client.request("chat.history", { sessionKey: "agent:main:chat" })).ok).toBe(true);
    expect(there.model.requests.length, "no model was asked while a plugin registers").toBe(asked);
    expect(await probe(there, "/health")).toBe("503 starting");
    writeFileSync(join(there.place.home, "go"), "");
    const gateway = await ready;
    expect(gateway.url).toBeDefined();
    const [chat, agent, completions, responses, invoked] = await Promise.all(ends.map((end) => end()));
    for (const waited of [chat, agent]) expect(waited).toMatchObject({ ok: true, payload: { status: "ok" } });
    for (const answered of [completions, responses]) expect(answered).toMatchObject({ status: 200 });
    expect(invoked).toMatchObject({ status: 400, body: expect.stringContaining("the police refuses session_status") });
    const heard = (): string => JSON.stringify(there.model.requests.slice(asked));
    await expect.poll(() => WRITES.filter((name) => !heard().includes(there.inside(name))), SOON).toEqual([]);
    for (const answer of toolAnswers(there)) expect(answer).toContain("the police refuses write");
    for (const name of WRITES) expect(existsSync(there.inside(name)), `${name} wrote its file`).toBe(false);
    await expect.poll(() => existsSync(join(there.place.home, "delivered")), SOON).toBe(true);
    expect(await probe(there, "/readyz")).toBe("200 ready");
    await client[Symbol.asyncDispose]();
  });

  test("38: a message that was accepted before a crash is resumed only when every plugin has registered", async () => {
    const before = there.model.requests.length;
    const first = await starting();
    const sent = await first.client.request("chat.send", { sessionKey: "agent:main:left", message: writing(there, "left"), idempotencyKey: "run-left" });
    expect(sent.ok).toBe(true);
    await first.client[Symbol.asyncDispose]();
    process.kill(Number(readFileSync(join(there.place.home, "pid"), "utf8")), "SIGKILL");
    await first.ready;
    const second = await starting();
    expect(there.model.requests.length).toBe(before);
    writeFileSync(join(there.place.home, "go"), "");
    await second.ready;
    const end = await second.client.request("agent.wait", { runId: "run-left", timeoutMs: 20_000 });
    expect(end).toMatchObject({ ok: true, payload: { status: "ok" } });
    expect(existsSync(there.inside("left"))).toBe(false);
    expect(toolAnswers(there).at(-1)).toContain("the police refuses write");
    await second.client[Symbol.asyncDispose]();
  });
});

/** Guards by a hook alone: that it does is known from its last load. */
const HOOKED: PlantedPlugin = {
  id: "hooked",
  code: `
    if (existsSync(home + "/hooked-fails")) throw new Error("broken today");
    api.on("before_tool_call", () => undefined);
    api.on("gateway_stop", () => writeFileSync(home + "/stopping", ""));
  `,
};
const DECLARED: PlantedPlugin = { ...POLICE, code: `if (existsSync(home + "/police-fails")) throw new Error("broken today");\n${POLICE.code}` };

describe("38: a plugin that guards tool calls and fails to load", () => {
  let there: GuardedPlace;
  beforeAll(async () => {
    there = await makeGuardedPlace();
    there.plant(DECLARED);
  });
  afterAll(() => there[Symbol.asyncDispose]());

  let runs = 0;
  /** Has the model list the workspace; returns the result. */
  async function look(client: DeviceClient): Promise<string> {
    const runId = `look-${(runs += 1)}`;
    const message = there.orders([{ name: "exec", args: { command: "echo the-tool-ran" } }]);
    await client.request("chat.send", { sessionKey: "agent:main:look", message, idempotencyKey: runId });
    expect(await client.request("agent.wait", { runId, timeoutMs: 20_000 })).toMatchObject({ ok: true, payload: { status: "ok" } });
    return toolAnswers(there).at(-1)!;
  }
  const fails = (id: string): string => join(there.place.home, `${id}-fails`);
  beforeEach(() => {
    for (const id of ["hooked", "police"]) rmSync(fails(id), { force: true });
    there.plant(HOOKED);
    there.configure();
  });

  test.each(["hooked", "police"])("38: %s, which guarded before: tools are refused, that is said, and a reload ends it", async (id) => {
    await there.start();
    writeFileSync(fails(id), "");
    const gateway = await there.start();
    await gateway.waitFor(new RegExp(`tools are refused: the plugin ${id} guards tool calls .* broken today`));
    await using client = await there.enter();
    expect(await look(client)).toMatch(new RegExp(`tools are refused: the plugin ${id} .*openclaw plugins reload ${id}`));
    expect(await post(there, "/tools/invoke", { tool: "session_status", args: {} })).toMatchObject({
      status: 503,
      body: expect.stringMatching(new RegExp(`"code":"UNAVAILABLE".*the plugin ${id} guards`)),
    });
    const explained = await client.request("tools.explain", { tool: "exec" });
    expect(JSON.stringify(explained)).toMatch(new RegExp(`"allowed":false,"layer":"plugins".*the plugin ${id} guards`));
    expect(there.place.cli("status").stdout).toContain(`tools are refused: the plugin ${id}`);
    expect((await client.request("plugins.reload", { id })).ok, "it still fails").toBe(false);
    expect(await look(client)).toContain("tools are refused");
    rmSync(fails(id));
    expect((await client.request("plugins.reload", { id })).ok).toBe(true);
    expect(await look(client)).toContain("the-tool-ran");
    // From now on a reload that fails leaves the old one in place.
    writeFileSync(fails(id), "");
    expect((await client.request("plugins.reload", { id })).ok).toBe(false);
    expect(await look(client)).toContain("the-tool-ran");
  });

  test("38: the configuration may say that tools run without it", async () => {
    await there.start();
    writeFileSync(fails("hooked"), "");
    const gateway = await there.start();
    await gateway.waitFor("tools are refused: the plugin hooked");
    await using client = await there.enter();
    expect(await look(client)).toContain("tools are refused");
    there.plant({ ...HOOKED, entry: { required: false } });
    there.configure();
    await expect.poll(() => look(client), SOON).toContain("the-tool-ran");
  });

  test("38: turns that end within the grace of a stop are guarded to their end", async () => {
    const gateway = await there.start();
    const client = await there.enter();
    const released = join(there.place.home, "released");
    const message = there.orders([
      { name: "exec", args: { command: `touch '${released}.waits'; while [ ! -e '${released}' ]; do sleep 0.02; done` } },
      { name: "write", args: { path: there.inside("after-stop"), content: "owned" } },
    ]);
    await client.request("chat.send", { sessionKey: "agent:main:stop", message, idempotencyKey: "run-stop" });
    await expect.poll(() => existsSync(`${released}.waits`), SOON).toBe(true);
    gateway.child.kill("SIGTERM");
    await client.closed;
    // Nothing new is taken, and the turn that runs goes on.
    writeFileSync(released, "");
    expect(await gateway.exited).toMatchObject({ code: 0 });
    expect(existsSync(join(there.place.home, "stopping"))).toBe(true);
    expect(existsSync(there.inside("after-stop"))).toBe(false);
    expect(toolAnswers(there).at(-1)).toContain("the police refuses write");
  });
});

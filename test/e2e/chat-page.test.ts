import { rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDevice, type TestDevice } from "../harness/auth.ts";
import { visit, type DeviceClient } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const KEY = "agent:main:main";

interface Asked {
  readonly role: string;
  readonly content: unknown;
}

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? "").join("") : "";

interface Model extends AsyncDisposable {
  readonly url: string;
  /** Ends the answers that wait. */
  release(): void;
}

/** A provider over HTTP. `do <word>` has it call `exec`, `slow <word>` has it stop in the middle of its answer until it is released. */
async function startModel(): Promise<Model> {
  const held = new Set<() => void>();
  let released = false;
  const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "m1" };
  const write = (response: ServerResponse, delta: object, end?: string): void => {
    const usage = end === undefined ? {} : { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
    response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: end ?? null }], ...usage })}\n\n`);
    if (end !== undefined) response.end("data: [DONE]\n\n");
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: readonly Asked[] };
      const at = messages.findLastIndex(({ role }) => role === "user");
      const [, how, word = "nothing"] = /(do|slow) (\S+)/.exec(textOf(messages[at]!.content)) ?? [];
      const done = messages.slice(at).some(({ role }) => role === "tool");
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (how === "do" && !done) {
        const call = { index: 0, id: `call_${word}`, type: "function", function: { name: "exec", arguments: JSON.stringify({ command: `echo out-${word}` }) } };
        write(response, { role: "assistant", content: "Let me see.", tool_calls: [call] });
        write(response, {}, "tool_calls");
      } else if (how === "slow" && !released) {
        write(response, { role: "assistant", content: `beginning ${word}` });
        held.add(() => {
          write(response, { content: ` end ${word}` });
          write(response, {}, "stop");
        });
      } else {
        write(response, { role: "assistant", content: how === "slow" ? `beginning ${word} end ${word}` : `done ${word}` });
        write(response, {}, "stop");
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    release() {
      released = true;
      for (const end of held) end();
      held.clear();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function placeWith(model: Model): Place {
  const place = makePlace();
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192, cost: { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 } }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: TOKEN } },
      agents: { defaults: { model: { primary: "mock/m1" }, skipBootstrap: true, workspace: join(place.home, "workspace") } },
      models: { providers: { mock: { baseUrl: model.url, apiKey: "k", api: "openai-completions", models } } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    }),
  );
  return place;
}

interface Shown {
  readonly entries: readonly {
    readonly seq: number;
    readonly kind: string;
    readonly content: readonly { readonly type: string; readonly text?: string }[];
    readonly runId?: string;
  }[];
  readonly pending: readonly { readonly runId: string; readonly text: string }[];
  readonly runs: readonly { readonly runId: string; readonly text?: string }[];
  readonly last: number;
}

/** A page: it watches, and reads again what is after its last position whenever it is notified. */
class Tab {
  readonly client: DeviceClient;
  readonly seen = new Map<number, Shown["entries"][number]>();
  last = 0;
  state: Shown | undefined;

  constructor(client: DeviceClient) {
    this.client = client;
  }
  static async open(gateway: GatewayProcess, device: TestDevice): Promise<Tab> {
    const client = await visit(gateway.url!, { device, token: TOKEN, scopes: ["operator.admin", "operator.read", "operator.write"] });
    expect(client.answer.ok, JSON.stringify(client.answer)).toBe(true);
    const tab = new Tab(client);
    expect((await client.ask("chat.watch", { sessionKey: "main" })).payload).toMatchObject({ sessionKey: KEY });
    await tab.refresh();
    return tab;
  }
  async refresh(): Promise<Shown> {
    const { ok, payload } = await this.client.ask("chat.page", { sessionKey: "main", limit: 200, ...(this.last === 0 ? {} : { after: this.last }) });
    expect(ok).toBe(true);
    const shown = payload as unknown as Shown;
    for (const entry of shown.entries) {
      expect(this.seen.has(entry.seq)).toBe(false);
      this.seen.set(entry.seq, entry);
    }
    this.last = shown.last;
    return (this.state = shown);
  }
  /** Goes on as a page does until what it shows fits. */
  async until(fits: (tab: Tab) => boolean): Promise<void> {
    let heard = 0;
    while (!fits(this)) {
      await this.client.next((frame) => frame.event === "chat.changed" && this.client.frames.indexOf(frame) >= heard);
      heard = this.client.frames.length;
      await this.refresh();
    }
  }
  say(message: string, idempotencyKey: string) {
    return this.client.ask("chat.send", { sessionKey: "main", message, idempotencyKey });
  }
  get texts(): readonly string[] {
    return [...this.seen.values()].map(({ kind, content }) => `${kind}: ${content.flatMap(({ text }) => text ?? []).join("")}`);
  }
}

const withoutStamp = (text: string): string => text.replace(/\[[^\]]*\] ?/, "");

test("two tabs stay in step over a turn with a tool, and both see what the tool gave", async () => {
  await using model = await startModel();
  const place = placeWith(model);
  await using gateway = await place.gateway();
  const device = createDevice();
  const [one, two] = [await Tab.open(gateway, device), await Tab.open(gateway, device)];
  expect((await one.say("do w1", "r1")).ok).toBe(true);
  const over = (tab: Tab): boolean => tab.seen.size === 4 && tab.state!.runs.length === 0;
  await Promise.all([one.until(over), two.until(over)]);
  expect(two.texts.map(withoutStamp)).toEqual(["user: do w1", "assistant: Let me see.", expect.stringMatching(/^tool: .*out-w1/s), "assistant: done w1"]);
  expect(two.texts).toEqual(one.texts);
  expect([...two.seen.values()].map(({ runId }) => runId)).toEqual(["r1", "r1", "r1", "r1"]);
  expect([...two.seen.values()].at(-1)).toMatchObject({ provider: "mock", model: "m1", usage: { input: 10, output: 5, cost: expect.any(Number) } });
  const tools = two.client.frames.filter(({ event, payload }) => event === "agent" && payload?.["stream"] === "tool").map(({ payload }) => payload!["data"]);
  expect(tools.at(0)).toMatchObject({ phase: "start", name: "exec", args: { command: "echo out-w1" } });
  expect(JSON.stringify(tools.at(-1))).toContain("out-w1");
  const context = await one.client.ask("sessions.context", { key: "main" });
  expect(context.payload).toMatchObject({ key: KEY, contextTokens: 200_000, measured: true, model: "mock/m1" });
  expect((context.payload!["parts"] as { kind: string }[]).map(({ kind }) => kind)).toEqual(expect.arrayContaining(["system", "tools", "messages"]));
  const commands = (await one.client.ask("commands.list")).payload!["commands"] as { name: string; source: string; args: unknown[] }[];
  expect(commands.find(({ name }) => name === "think")).toMatchObject({ source: "core", args: [{ name: "level", choices: expect.arrayContaining(["high"]) }] });
  expect([...one.client.faults(), ...two.client.faults()]).toEqual([]);
  rmSync(place.home, { recursive: true, force: true });
});

test("a message that waits is pending; killed in the middle of its turn, the gateway shows it once afterwards, and its answer", async () => {
  await using model = await startModel();
  const place = placeWith(model);
  const device = createDevice();
  {
    await using gateway = await place.gateway();
    const tab = await Tab.open(gateway, device);
    await tab.say("slow w1", "r1");
    await tab.client.next(({ event, payload }) => event === "agent" && payload?.["stream"] === "assistant");
    await tab.say("slow w2", "r2");
    const late = await Tab.open(gateway, device);
    expect(late.state!.entries).toEqual([]);
    expect(late.state!.pending.map(({ runId, text }) => [runId, text])).toEqual([
      ["r1", "slow w1"],
      ["r2", "slow w2"],
    ]);
    // The end of what was streamed is held back as long as it could begin a secret.
    expect(late.state!.runs).toMatchObject([{ runId: "r1", text: expect.stringMatching(/^beginning w1?$/) as string }]);
    gateway.child.kill("SIGKILL");
    await gateway.exited;
  }
  await using again = await place.gateway();
  const tab = await Tab.open(again, device);
  const once = (shown: Tab): readonly string[] => [
    ...shown.texts.filter((text) => text.startsWith("user")).map((text) => withoutStamp(text.slice(6))),
    ...shown.state!.pending.map(({ text }) => text),
  ];
  expect(once(tab)).toEqual(["slow w1", "slow w2"]);
  model.release();
  await tab.until(({ seen, state }) => {
    expect(once(tab)).toEqual(["slow w1", "slow w2"]);
    return seen.size === 4 && state!.runs.length === 0;
  });
  expect(tab.texts.map(withoutStamp)).toEqual(["user: slow w1", "assistant: beginning w1 end w1", "user: slow w2", "assistant: beginning w2 end w2"]);
  expect([...tab.seen.values()].map(({ runId }) => runId)).toEqual(["r1", "r1", "r2", "r2"]);
  expect(tab.state!.pending).toEqual([]);
  expect(tab.client.faults()).toEqual([]);
  rmSync(place.home, { recursive: true, force: true });
});

/** Every message hook over every entrance: how often it is called, in which order, and what its result does must not depend on where a message comes from. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HOOKS } from "../../src/hooks/index.ts";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startIrcServer, type IrcConnection, type IrcServer } from "../fakes/irc/server.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const HOST = "owner.invalid";

const MESSAGE_HOOKS = Object.entries(HOOKS)
  .filter(([, { area }]) => area === "messages")
  .map(([name]) => name);

/** The hooks of a message that is answered, in the order in which they are called. */
const WHOLE = ["message_received", "inbound_claim", "before_dispatch", "reply_dispatch", "reply_payload_sending", "message_sending", "message_sent"];
const ANSWER = WHOLE.slice(4);

interface Case {
  /** Stands in the message. */
  readonly word: string;
  readonly hooks: readonly string[];
  /** What is answered; undefined: nothing. `word` is the case's own. */
  readonly says: ((word: string) => string) | undefined;
  /** What the model is asked; undefined: it is not asked. */
  readonly asks?: (word: string) => string;
}

/** What each hook can do with a message. */
const CASES: readonly Case[] = [
  { word: "plain", hooks: WHOLE, says: (word) => `Heard ${word}.`, asks: (word) => word },
  { word: "claim", hooks: ["message_received", "inbound_claim", ...ANSWER], says: (word) => `claimed ${word}` },
  { word: "ignore", hooks: ["message_received", "inbound_claim"], says: undefined },
  { word: "change", hooks: WHOLE, says: () => "Heard w-changed.", asks: () => "w-changed" },
  { word: "handle", hooks: [...WHOLE.slice(0, 3), ...ANSWER], says: (word) => `handled ${word}` },
  { word: "halt", hooks: WHOLE.slice(0, 3), says: undefined },
  { word: "takeover", hooks: WHOLE, says: (word) => `took over ${word}` },
  { word: "dress", hooks: WHOLE, says: (word) => `<Heard ${word}.>`, asks: (word) => word },
  { word: "loud", hooks: WHOLE, says: (word) => `HEARD ${word.toUpperCase()}.`, asks: (word) => word },
  { word: "hush", hooks: WHOLE.slice(0, 6), says: undefined, asks: (word) => word },
];

/** Writes down every call of the seven hooks, and does what the message asks for. */
const CODE = `
import { appendFileSync } from "node:fs";

export default function register(api) {
  const { file } = api.pluginConfig;
  const wordOf = (text) => /\\bw-[a-z]+\\d+/i.exec(text ?? "")?.[0] ?? "";
  const note = (hook, event, ctx, sessionKey) => {
    const { trace, traceId, spanId, parentSpanId, callDepth, channelId, accountId, conversationId, messageId, senderId, runId } = ctx;
    const facts = { trace, traceId, spanId, parentSpanId, callDepth, channelId, accountId, conversationId, messageId, senderId, runId };
    appendFileSync(file, JSON.stringify({ hook, sessionKey, ...facts, content: event.content ?? event.payload?.text, from: event.from, success: event.success }) + "\\n");
  };
  const on = (hook, decide = () => undefined) =>
    api.on(hook, (event, ctx) => {
      note(hook, event, ctx, ctx.sessionKey ?? event.sessionKey);
      return decide(event, ctx);
    });
  on("message_received");
  on("inbound_claim", ({ content }) => {
    if (content.includes("w-claim")) return { handled: true, reply: { text: "claimed " + wordOf(content) } };
    if (content.includes("w-ignore")) return { handled: true };
  });
  on("before_dispatch", ({ content }) => {
    if (content.includes("w-change")) return { content: "say w-changed" };
    if (content.includes("w-handle")) return { handled: true, text: "handled " + wordOf(content) };
    if (content.includes("w-halt")) return { cancel: true, cancelReason: "not today" };
  });
  on("reply_dispatch", ({ ctx }, { dispatcher }) => {
    if (!ctx.Body.includes("w-takeover")) return undefined;
    dispatcher.sendFinalReply({ text: "took over " + wordOf(ctx.Body) });
    return { handled: true, queuedFinal: true, counts: { final: 1 } };
  });
  on("reply_payload_sending", ({ payload }) => (payload.text.includes("w-dress") ? { payload: { ...payload, text: "<" + payload.text + ">" } } : undefined));
  on("message_sending", ({ content }) => {
    if (content.includes("w-loud")) return { content: content.toUpperCase() };
    if (content.includes("w-hush")) return { cancel: true, cancelReason: "quiet" };
  });
  on("message_sent");
  api.on("before_model_resolve", (event, ctx) => {
    note("before_model_resolve", { content: event.prompt }, ctx, ctx.sessionKey);
    return event.prompt.includes("w-nomodel") ? { modelOverride: "nobody/nothing" } : undefined;
  });
  api.on("before_prompt_build", (event) => (event.prompt.includes("w-context") ? { prependContext: "from a plugin", appendContext: "more of it" } : undefined));
  api.on("before_reset", (event, ctx) => appendFileSync(file, JSON.stringify({ hook: "before_reset", sessionKey: ctx.sessionKey, sessionFile: event.sessionFile }) + "\\n"));
  api.on("before_agent_run", (event, ctx) => {
    const { contextTokenBudget, workspaceDir, trace, sessionKey } = ctx;
    appendFileSync(file, JSON.stringify({ hook: "before_agent_run", sessionKey, contextTokenBudget, workspaceDir, trace }) + "\\n");
    return { outcome: "pass" };
  });
}
`;

interface Call {
  readonly hook: string;
  readonly sessionKey?: string;
  readonly content?: string;
  readonly [fact: string]: unknown;
}

interface Chat {
  readonly sessionKey: string;
  readonly channel: string;
  /** Resolves when it is known that the answer, if any, has come. */
  write(text: string): Promise<void>;
  answers(): readonly string[];
}

let telegram: FakeTelegram;
let irc: IrcServer;
let line: IrcConnection;
let gateway: LabGateway;
let folder: string;
let calls: () => readonly Call[];
let people: ReturnType<FakeTelegram["person"]>[];
let serial = 0;
const nicks = CASES.map((_, at) => `p${at}`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "message-hooks-"));
  const file = join(folder, "calls.jsonl");
  const plugin = join(folder, "watcher");
  mkdirSync(plugin);
  writeFileSync(
    join(plugin, "openclaw.plugin.json"),
    JSON.stringify({ id: "watcher", configSchema: { type: "object", properties: { file: { type: "string" } } } }),
  );
  writeFileSync(join(plugin, "index.mjs"), CODE);
  calls = () =>
    existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .flatMap((text) => (text === "" ? [] : [JSON.parse(text) as Call]))
      : [];
  telegram = await startTelegram();
  irc = await startIrcServer();
  people = nicks.map(() => telegram.person());
  for (const person of people) telegram.direct(person);
  const own = { dmPolicy: "allowlist", enabled: true };
  gateway = await startLabGateway({
    sections: {
      channels: {
        telegram: { ...own, botToken: telegram.token, ackReaction: "", allowFrom: people.map(({ id }) => String(id)) },
        irc: {
          ...own,
          host: "127.0.0.1",
          port: irc.port,
          tls: false,
          nick: "claw",
          flood: { burst: 100_000, intervalMs: 1 },
          allowFrom: nicks.map((nick) => `${nick}@${HOST}`),
        },
      },
      session: { dmScope: "per-channel-peer" },
      gateway: {
        mode: "local",
        auth: { mode: "token", token: "token-of-the-lab-0123456789abcdef" },
        http: { endpoints: { chatCompletions: { enabled: true } } },
      },
      plugins: {
        load: { paths: [plugin] },
        allow: ["watcher", "telegram", "irc"],
        entries: { watcher: { enabled: true, config: { file }, hooks: { allowConversationAccess: true } } },
      },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
}, 60_000);

beforeEach(async () => {
  for (const channel of ["telegram", "irc"]) await expect.poll(async () => (await gateway.account(channel))?.connected, PATIENCE).toBe(true);
  line = irc.connections.findLast(({ isOpen }) => isOpen)!;
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  await irc?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Texts of the events of a session: what was shown while the answer was written, and at its end. */
function shown(sessionKey: string, event: "chat" | "agent"): readonly string[] {
  return gateway.operator.frames.flatMap(({ event: name, payload }) => {
    if (name !== event || payload!["sessionKey"] !== sessionKey) return [];
    if (event === "agent") return payload!["stream"] === "assistant" ? [(payload!["data"] as { text: string }).text] : [];
    const { content } = (payload!["message"] ?? { content: [] }) as { content: readonly { text: string }[] };
    return payload!["state"] === "final" ? content.map(({ text }) => text) : [];
  });
}

async function ended(runId: string): Promise<void> {
  await gateway.operator.request("agent.wait", { runId, timeoutMs: 20_000 });
}

function webchat(number: number): Chat {
  const sessionKey = `agent:main:chat-${number}`;
  return {
    sessionKey,
    channel: "webchat",
    async write(message) {
      await gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey: sessionKey });
      await ended(sessionKey);
    },
    answers: () => shown(sessionKey, "chat"),
  };
}

function agentCaller(number: number): Chat {
  const sessionKey = `agent:main:call-${number}`;
  const said: string[] = [];
  return {
    sessionKey,
    channel: "webchat",
    async write(message) {
      const { ok, payload, error } = await gateway.operator.request("agent", { sessionKey, message, idempotencyKey: sessionKey });
      const { payloads } = (payload?.["result"] ?? { payloads: [] }) as { payloads: readonly { text: string }[] };
      said.push(...(ok ? payloads.map(({ text }) => text) : [`refused: ${error?.message}`]));
    },
    answers: () => said,
  };
}

/** What stands for no answer in this API. */
const NOTHING = "No response from OpenClaw.";

function completions(number: number, stream: boolean): Chat {
  const sessionKey = `agent:main:api-${number}`;
  const said: string[] = [];
  return {
    sessionKey,
    channel: "api",
    async write(content) {
      const response = await fetch(`${gateway.url.replace(/^ws/, "http")}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json", "x-openclaw-session-key": sessionKey },
        body: JSON.stringify({ model: "openclaw", stream, messages: [{ role: "user", content }] }),
      });
      const body = await response.text();
      const texts = stream
        ? body
            .split("\n")
            .flatMap((text) =>
              text.startsWith("data: {") ? [(JSON.parse(text.slice(6)) as { choices: { delta: { content?: string } }[] }).choices[0]!.delta] : [],
            )
            .map((delta) => delta.content ?? "")
        : [(JSON.parse(body) as { choices: { message: { content: string } }[] }).choices[0]!.message.content];
      said.push(texts.join(""));
    },
    answers: () => said.filter((text) => text !== NOTHING),
  };
}

function overTelegram(at: number): Chat {
  const person = people[at]!;
  return {
    sessionKey: `agent:main:telegram:direct:${person.id}`,
    channel: "telegram",
    write: async (text) => void telegram.say(text, { from: person }),
    answers: () =>
      telegram
        .messages(person.id)
        .filter(({ byBot }) => byBot)
        .map(({ text }) => text),
  };
}

function overIrc(at: number): Chat {
  const nick = nicks[at]!;
  return {
    sessionKey: `agent:main:irc:direct:${nick}!u@${HOST}`,
    channel: "irc",
    write: async (text) => line.send(`:${nick}!u@${HOST} PRIVMSG claw :${text}`),
    answers: () => line.lines.filter(({ command, params }) => command === "PRIVMSG" && params[0] === nick).map(({ params }) => params.at(-1) ?? ""),
  };
}

const ENTRANCES: Readonly<Record<string, (at: number) => Chat>> = {
  "chat.send": () => webchat((serial += 1)),
  "the agent method": () => agentCaller((serial += 1)),
  "/v1": () => completions((serial += 1), false),
  "/v1 as a stream": () => completions((serial += 1), true),
  Telegram: overTelegram,
  IRC: overIrc,
};

const hooksOf = (key: string): readonly string[] =>
  calls()
    .filter(({ hook, sessionKey }) => sessionKey === key && WHOLE.includes(hook))
    .map(({ hook }) => hook);

test("this table has every message hook", () => {
  expect(WHOLE.toSorted()).toEqual(MESSAGE_HOOKS.toSorted());
});

describe.each(CASES.map((one, at) => ({ ...one, at })))("$word", ({ word: name, hooks, says, asks, at }) => {
  test.each(Object.keys(ENTRANCES))("over %s: each hook once, in order, and what it decides holds", async (entrance) => {
    const chat = ENTRANCES[entrance]!(at);
    const word = `w-${name}${(serial += 1)}`;
    await chat.write(`say ${word}`);
    await expect.poll(() => hooksOf(chat.sessionKey), PATIENCE).toEqual(hooks);
    const expected = says === undefined ? [] : [says(word)];
    await expect.poll(() => chat.answers(), PATIENCE).toEqual(expected);
    const requests = gateway.model.requests.filter(({ user }) => user.includes(word) || (name === "change" && user.includes("w-changed")));
    if (asks === undefined) expect(requests).toEqual([]);
    else expect(requests.at(-1)!.user).toContain(asks(word));
    const own = calls().filter(({ sessionKey }) => sessionKey === chat.sessionKey);
    // Hooks about one message belong to one trace; the reply is a part of it.
    const traces = own.map(({ trace, traceId }) => (trace as { traceId: string } | undefined)?.traceId ?? traceId);
    expect(new Set(traces).size).toBe(1);
    expect(traces[0]).toMatch(/^[0-9a-f]{32}$/);
    for (const call of own.filter(({ hook }) => WHOLE.includes(hook) && hook !== "reply_dispatch")) {
      expect(call).toMatchObject({ channelId: chat.channel, accountId: "default", callDepth: 0, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
      expect([call.hook, call["parentSpanId"] !== undefined]).toEqual([call.hook, ANSWER.includes(call.hook)]);
    }
    const runs = own.filter(({ hook }) => hook === "before_agent_run");
    expect(runs).toHaveLength(asks === undefined ? 0 : 1);
    if (asks !== undefined) expect(runs[0]).toMatchObject({ contextTokenBudget: 200_000, workspaceDir: gateway.workspace });
    expect(own.filter(({ hook }) => hook === "before_model_resolve")).toHaveLength(asks === undefined ? 0 : 1);
  });
});

test("what plugins changed or cancelled is shown so to clients, also while it is written and when it is read again", async () => {
  for (const [name, expected] of [
    ["loud", (word: string) => [`HEARD ${word.toUpperCase()}.`]],
    ["hush", () => []],
    ["plain", (word: string) => [`Heard ${word}.`]],
  ] as const) {
    const chat = webchat((serial += 1));
    const word = `w-${name}${serial}`;
    await chat.write(`say ${word}`);
    await expect.poll(() => chat.answers(), PATIENCE).toEqual(expected(word));
    expect(shown(chat.sessionKey, "agent")).toEqual(expected(word));
    const { payload: history } = await gateway.operator.request("chat.history", { sessionKey: chat.sessionKey });
    const { payload: page } = await gateway.operator.request("chat.page", { sessionKey: chat.sessionKey });
    const textsOf = (messages: readonly { readonly content: readonly { readonly type: string; readonly text: string }[] }[]): readonly string[] =>
      messages.flatMap(({ content }) => content.flatMap(({ type, text }) => (type === "text" ? [text] : [])));
    const said = [`say ${word}`, ...expected(word)];
    expect(textsOf(history!["messages"] as never)).toEqual(said);
    expect(textsOf((page!["entries"] ?? page!["messages"]) as never)).toEqual(said);
    // A repeated call gets the same answer.
    const again = await gateway.operator.request("agent", { sessionKey: chat.sessionKey, message: `say ${word}`, idempotencyKey: chat.sessionKey });
    const { payloads } = again.payload!["result"] as { payloads: readonly { text: string }[] };
    expect(payloads.map(({ text }) => text)).toEqual(expected(word));
  }
});

test("a command and its answer pass the same hooks over every entrance that has commands", async () => {
  for (const entrance of ["chat.send", "the agent method"]) {
    const chat = ENTRANCES[entrance]!(0);
    await chat.write("/whoami");
    await expect.poll(() => hooksOf(chat.sessionKey), PATIENCE).toEqual(["message_received", "inbound_claim", ...ANSWER]);
    expect(chat.answers().join()).toContain("Channel");
  }
});

test("an unknown model that a plugin asks for is logged, and the usual one answers", async () => {
  const chat = webchat((serial += 1));
  const word = `w-nomodel${serial}`;
  await chat.write(`say ${word}`);
  await expect.poll(() => chat.answers(), PATIENCE).toEqual([`Heard ${word}.`]);
  const { payload } = await gateway.operator.request("logs.tail", { limit: 5000 });
  expect(JSON.stringify(payload)).toContain("nobody/nothing");
});

test("what a plugin puts around a message reaches the model, and nobody who reads the conversation", async () => {
  const chat = webchat((serial += 1));
  const word = `w-context${serial}`;
  await chat.write(`say ${word}`);
  await expect.poll(() => chat.answers(), PATIENCE).toEqual([`Heard ${word}.`]);
  expect(gateway.model.requests.findLast(({ user }) => user.includes(word))!.user).toBe(`from a plugin\nsay ${word}\nmore of it`);
  for (const method of ["chat.history", "chat.page"]) {
    const { payload } = await gateway.operator.request(method, { sessionKey: chat.sessionKey });
    expect(JSON.stringify(payload)).toContain(`say ${word}`);
    expect(JSON.stringify(payload)).not.toContain("from a plugin");
  }
});

test("the file of a session that ends is named with its whole path", async () => {
  const chat = webchat((serial += 1));
  await chat.write(`say w-plain${serial}`);
  await gateway.operator.request("sessions.reset", { key: chat.sessionKey });
  const named = (): unknown => calls().find(({ hook, sessionKey }) => hook === "before_reset" && sessionKey === chat.sessionKey)?.["sessionFile"];
  await expect.poll(named, PATIENCE).toMatch(/\.jsonl/);
  expect(isAbsolute(String(named()))).toBe(true);
  expect(String(named()).startsWith(gateway.place.stateDir)).toBe(true);
});

test("a plugin's decision is shown by why", async () => {
  const chat = webchat((serial += 1));
  await chat.write(`say w-halt${serial}`);
  const { payload } = await gateway.operator.request("why", { what: chat.sessionKey });
  expect(JSON.stringify(payload)).toContain("stopped by watcher: not today");
});

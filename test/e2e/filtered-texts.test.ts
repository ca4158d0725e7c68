/** What plugins redact or withhold is shown nowhere: not before the end of a turn, not in a turn that ends badly, and in no view of the conversation. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { LabCalls } from "../conformance/channels/lab-model.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

/** Redacts one word and withholds texts with another, and writes down what it was asked. */
const CODE = `
import { appendFileSync } from "node:fs";

export default function register(api) {
  const note = (hook, event, ctx) => appendFileSync(api.pluginConfig.file, JSON.stringify({ hook, key: ctx.sessionKey, kind: event.kind, text: event.payload?.text ?? event.content }) + "\\n");
  api.on("reply_payload_sending", (event, ctx) => note("reply_payload_sending", event, ctx));
  api.on("message_sending", (event, ctx) => {
    note("message_sending", event, ctx);
    if (event.content.includes("w-hush")) return { cancel: true, cancelReason: "withheld" };
    return { content: event.content.replaceAll("PLAINSECRET", "[redacted]") };
  });
  api.on("message_sent", (event, ctx) => note("message_sent", event, ctx));
  api.on("before_agent_reply", (event) => {
    const text = event.prompt ?? event.cleanedBody ?? "";
    return text.includes("w-instead") ? { handled: true, reply: { text: "PLAINSECRET from a plugin" } } : undefined;
  });
  let asked = 0;
  api.on("before_agent_finalize", (event) => {
    const text = event.answer ?? "";
    return text.includes("w-again") && (asked += 1) === 1 ? { action: "revise", reason: "once more", retry: { instruction: "w-revised" } } : undefined;
  });
}
`;

interface Noted {
  readonly hook: string;
  readonly key: string;
  readonly kind?: string;
  readonly text: string;
}

let telegram: FakeTelegram;
let gateway: LabGateway;
let folder: string;
let file: string;
let serial = 0;

const noted = (key: string): readonly Noted[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Noted]))
        .filter((one) => one.key === key)
    : [];
const kinds = (key: string) => noted(key).flatMap(({ hook, kind, text }) => (hook === "reply_payload_sending" ? [[kind, text]] : []));
const sent = (key: string) => noted(key).flatMap(({ hook, text }) => (hook === "message_sent" ? [text] : []));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "filtered-texts-"));
  file = join(folder, "calls.jsonl");
  const plugin = join(folder, "filter");
  mkdirSync(plugin);
  writeFileSync(
    join(plugin, "openclaw.plugin.json"),
    JSON.stringify({ id: "filter", configSchema: { type: "object", properties: { file: { type: "string" } } } }),
  );
  writeFileSync(join(plugin, "index.mjs"), CODE);
  telegram = await startTelegram();
  gateway = await startLabGateway({
    sections: {
      channels: { telegram: { enabled: true, botToken: telegram.token, ackReaction: "", dmPolicy: "open", allowFrom: ["*"] } },
      session: { dmScope: "per-channel-peer" },
      gateway: {
        mode: "local",
        auth: { mode: "token", token: "token-of-the-lab-0123456789abcdef" },
        http: { endpoints: { chatCompletions: { enabled: true } } },
      },
      plugins: {
        load: { paths: [plugin] },
        allow: ["filter", "telegram"],
        entries: { filter: { enabled: true, config: { file }, hooks: { allowConversationAccess: true } } },
      },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
}, 60_000);

beforeEach(async () => {
  await expect.poll(async () => (await gateway.account("telegram"))?.connected, PATIENCE).toBe(true);
});

afterEach(() => {
  gateway.model.answers(undefined);
  gateway.model.pace(undefined);
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const newKey = (): string => `agent:main:filtered-${(serial += 1)}`;
const CALL: LabCalls["calls"] = [{ name: "session_status", args: {} }];

/** First a text with a call, then a text. */
const twoTexts = (first: string, second: string) =>
  gateway.model.answers(({ body }) => {
    const { messages } = JSON.parse(body) as { messages: readonly { role: string }[] };
    return messages.at(-1)!.role === "tool" ? second : { text: first, calls: CALL };
  });

async function call(method: string, params: object): Promise<Record<string, unknown>> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  if (!ok) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return payload as Record<string, unknown>;
}

async function ask(sessionKey: string, message: string): Promise<void> {
  await call("chat.send", { sessionKey, message, idempotencyKey: sessionKey });
  await call("agent.wait", { runId: sessionKey, timeoutMs: 20_000 });
}

/** Everything that shows the conversation, as one text. */
async function views(sessionKey: string): Promise<string> {
  const parts = [
    await call("chat.history", { sessionKey }),
    await call("chat.page", { sessionKey }),
    await call("sessions.list", { includeLastMessage: true, includeDerivedTitles: true, search: sessionKey }),
    await call("sessions.preview", { keys: [sessionKey] }),
    await call("sessions.usage.logs", { key: sessionKey }),
    gateway.operator.frames.filter(({ payload }) => (payload as { sessionKey?: string } | undefined)?.sessionKey === sessionKey),
  ];
  const { entries } = (await call("chat.page", { sessionKey })) as { entries: readonly { seq: number; kind: string; content: readonly { type: string }[] }[] };
  for (const { seq, content } of entries) if (content.some(({ type }) => type === "text")) parts.push(await call("chat.entry", { sessionKey, seq }));
  await call("chat.send", { sessionKey, message: "/export-session out.html", idempotencyKey: `${sessionKey}-export` });
  await call("agent.wait", { runId: `${sessionKey}-export`, timeoutMs: 20_000 });
  expect(readdirSync(gateway.workspace)).toContain("out.html");
  return JSON.stringify(parts) + readFileSync(join(gateway.workspace, "out.html"), "utf8");
}

const textsOf = async (sessionKey: string): Promise<readonly string[]> => {
  const { messages } = (await call("chat.history", { sessionKey })) as {
    messages: readonly { role: string; content: readonly { type: string; text: string }[] }[];
  };
  return messages.flatMap(({ role, content }) => (role === "assistant" ? content.flatMap(({ type, text }) => (type === "text" ? [text] : [])) : []));
};

async function completion(sessionKey: string, content: string, more: object = {}): Promise<string> {
  const response = await fetch(`${gateway.url.replace(/^ws/, "http")}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json", "x-openclaw-session-key": sessionKey },
    body: JSON.stringify({ model: "openclaw", messages: [{ role: "user", content }], ...more }),
  });
  return response.text();
}

const ENTRANCES: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
  "chat.send": (key) => ask(key, "go"),
  agent: (key) => call("agent", { sessionKey: key, message: "go", idempotencyKey: key }),
  "/v1": (key) => completion(key, "go"),
  "/v1 as a stream": (key) => completion(key, "go", { stream: true }),
};

test.each(Object.keys(ENTRANCES))("over %s a text before a call passes the hooks as a block, and is shown as they left it", async (entrance) => {
  const key = newKey();
  twoTexts("first PLAINSECRET", "second PLAINSECRET");
  const answer = await ENTRANCES[entrance]!(key);
  expect(JSON.stringify(answer ?? "")).not.toContain("PLAINSECRET");
  expect(kinds(key)).toEqual([
    ["block", "first PLAINSECRET"],
    ["final", "second PLAINSECRET"],
  ]);
  await expect.poll(() => sent(key), PATIENCE).toEqual(["first [redacted]", "second [redacted]"]);
  expect(await textsOf(key)).toEqual(["first [redacted]", "second [redacted]"]);
  expect(await views(key)).not.toContain("PLAINSECRET");
});

test("a client that follows the run is shown the text before a call once it is decided", async () => {
  const key = newKey();
  twoTexts("first PLAINSECRET", "second");
  await ask(key, "go");
  const live = gateway.operator.frames.flatMap(({ event, payload }) => {
    const { sessionKey, stream, data } = (payload ?? {}) as { sessionKey?: string; stream?: string; data?: { text: string } };
    return event === "agent" && sessionKey === key && stream === "assistant" ? [data!.text] : [];
  });
  expect(live).toEqual(["first [redacted]", "second"]);
});

test("a text before a call stays withheld when the answer is withheld too, and when only one of them is", async () => {
  for (const [first, second, shown] of [
    ["w-hush one", "w-hush two", []],
    ["w-hush one", "fine", ["fine"]],
    ["fine", "w-hush two", ["fine"]],
  ] as const) {
    const key = newKey();
    twoTexts(first, second);
    await ask(key, "go");
    expect(await textsOf(key)).toEqual(shown);
    expect(await views(key)).not.toContain("w-hush");
  }
});

test("an answer whose last text came before a call is decided once", async () => {
  const key = newKey();
  twoTexts("only PLAINSECRET", "");
  await ask(key, "go");
  expect(kinds(key)).toEqual([["block", "only PLAINSECRET"]]);
  expect(await textsOf(key)).toEqual(["only [redacted]"]);
  expect(await views(key)).not.toContain("PLAINSECRET");
});

test("the text beside calls that an API client carries out itself is decided once", async () => {
  const key = newKey();
  gateway.model.answers(() => ({ text: "asking PLAINSECRET", calls: [{ name: "ask_caller", args: {} }] }));
  const tools = [{ type: "function", function: { name: "ask_caller", parameters: { type: "object", properties: {} } } }];
  const { choices } = JSON.parse(await completion(key, "go", { tools })) as { choices: readonly { message: { content: string; tool_calls: unknown[] } }[] };
  expect(choices[0]!.message).toMatchObject({ content: "asking [redacted]", tool_calls: [{ function: { name: "ask_caller" } }] });
  expect(kinds(key)).toHaveLength(1);
  expect(await textsOf(key)).toEqual(["asking [redacted]"]);
});

test("an answer that a plugin sends back for another pass is decided like a text before a call", async () => {
  const key = newKey();
  gateway.model.answers(({ user }) => (user.includes("w-revised") ? "better" : "w-again PLAINSECRET"));
  await ask(key, "go");
  expect(kinds(key)).toEqual([
    ["block", "w-again PLAINSECRET"],
    ["final", "better"],
  ]);
  expect(await textsOf(key)).toEqual(["w-again [redacted]", "better"]);
  expect(await views(key)).not.toContain("PLAINSECRET");
});

test("what a plugin answers in the model's place is stored as it was shown", async () => {
  const key = newKey();
  await ask(key, "say w-instead");
  expect(await textsOf(key)).toEqual(["[redacted] from a plugin"]);
  expect(await views(key)).not.toContain("PLAINSECRET");
});

test("part of an answer that was stopped is not shown: plugins were not asked about it", async () => {
  const key = newKey();
  gateway.model.answers(() => `PLAINSECRET ${"x".repeat(6400)}`);
  gateway.model.pace(20);
  await call("chat.send", { sessionKey: key, message: "go w-stopped", idempotencyKey: key });
  await expect.poll(() => gateway.model.requests.at(-1)!.user, PATIENCE).toContain("w-stopped");
  // Nothing tells that the text has begun, which is the point: some time passes for it.
  for (let at = 0; at < 100; at += 1) expect(JSON.stringify(await call("chat.page", { sessionKey: key }))).not.toContain("PLAINSECRET");
  await call("chat.abort", { sessionKey: key });
  await call("agent.wait", { runId: key, timeoutMs: 20_000 });
  await expect.poll(async () => JSON.stringify(await call("chat.page", { sessionKey: key })), PATIENCE).toContain('"aborted"');
  expect(await views(key)).not.toContain("PLAINSECRET");
});

test("a run whose answer is sent to a chat has its text before a call decided for that chat, once", async () => {
  const person = telegram.person();
  telegram.direct(person);
  const key = newKey();
  twoTexts("first PLAINSECRET", "second w-hush");
  await call("agent", { sessionKey: key, message: "go", idempotencyKey: key, deliver: true, channel: "telegram", to: String(person.id) });
  expect(kinds(key)).toEqual([
    ["block", "first PLAINSECRET"],
    ["final", "second w-hush"],
  ]);
  const shown = () =>
    telegram
      .messages(person.id)
      .filter(({ byBot }) => byBot)
      .map(({ text }) => text);
  await expect.poll(shown, PATIENCE).toEqual(["first [redacted]"]);
  expect(await textsOf(key)).toEqual(["first [redacted]"]);
});

test("on Telegram hooks can tell the text before a call from the answer", async () => {
  const person = telegram.person();
  telegram.direct(person);
  twoTexts("first PLAINSECRET", "second");
  telegram.say("go", { from: person });
  const key = `agent:main:telegram:direct:${person.id}`;
  await expect
    .poll(() => kinds(key), PATIENCE)
    .toEqual([
      ["block", "first PLAINSECRET"],
      ["final", "second"],
    ]);
});

test("a chat's session shows clients what the chat was sent: each text as plugins left it, live and in every view", async () => {
  const person = telegram.person();
  telegram.direct(person);
  twoTexts("first PLAINSECRET", "second PLAINSECRET");
  const key = `agent:main:telegram:direct:${person.id}`;
  telegram.say("go", { from: person });
  await expect.poll(() => sent(key), PATIENCE).toEqual(["first [redacted]", "second [redacted]"]);
  await expect.poll(() => textsOf(key), PATIENCE).toEqual(["first [redacted]", "second [redacted]"]);
  const live = gateway.operator.frames.flatMap(({ event, payload }) => {
    const { sessionKey, stream, data } = (payload ?? {}) as { sessionKey?: string; stream?: string; data?: { text: string } };
    return event === "agent" && sessionKey === key && stream === "assistant" ? [data!.text] : [];
  });
  expect(live).toEqual(["first [redacted]", "second [redacted]"]);
  expect(await views(key)).not.toContain("PLAINSECRET");
});

test("a text that a plugin keeps from a chat is in no view of the chat's session", async () => {
  const person = telegram.person();
  telegram.direct(person);
  twoTexts("fine", "w-hush two");
  const key = `agent:main:telegram:direct:${person.id}`;
  telegram.say("go", { from: person });
  await expect.poll(() => sent(key), PATIENCE).toEqual(["fine"]);
  await expect.poll(() => textsOf(key), PATIENCE).toEqual(["fine"]);
  expect(await views(key)).not.toContain("w-hush");
});

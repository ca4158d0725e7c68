/** The hooks before a turn are called once for each message, also when the process is killed while one message is answered and another waits behind it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 30_000, interval: 20 };

/** Writes down the hooks before a turn, and rewrites and takes over by words. */
const CODE = `
import { appendFileSync } from "node:fs";

export default function register(api) {
  const { file } = api.pluginConfig;
  const note = (hook, text) => appendFileSync(file, JSON.stringify({ hook, word: /w-[a-z]+(\\d+)/.exec(text)?.[1] }) + "\\n");
  api.on("message_received", ({ content }) => note("message_received", content));
  api.on("inbound_claim", ({ content }) => note("inbound_claim", content));
  api.on("before_dispatch", ({ content }) => {
    note("before_dispatch", content);
    return content.includes("w-change") ? { content: content.replace("w-change", "w-changed") } : undefined;
  });
  api.on("reply_dispatch", ({ ctx }, { dispatcher, recordProcessed, markIdle }) => {
    note("reply_dispatch", ctx.Body);
    recordProcessed("completed", { reason: "seen" });
    markIdle("message_completed");
    if (!ctx.Body.includes("w-take")) return undefined;
    dispatcher.sendFinalReply({ text: "took over" });
    return { handled: true, queuedFinal: true, counts: { final: 1 } };
  });
}
`;

let telegram: FakeTelegram;
let gateway: LabGateway;
let folder: string;
let file: string;
let serial = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hooks-once-"));
  file = join(folder, "calls.jsonl");
  const plugin = join(folder, "watcher");
  mkdirSync(plugin);
  writeFileSync(
    join(plugin, "openclaw.plugin.json"),
    JSON.stringify({ id: "watcher", configSchema: { type: "object", properties: { file: { type: "string" } } } }),
  );
  writeFileSync(join(plugin, "index.mjs"), CODE);
  telegram = await startTelegram();
  gateway = await startLabGateway({
    build: "dist-test",
    sections: {
      channels: { telegram: { enabled: true, botToken: telegram.token, streamMode: "off", dmPolicy: "open", allowFrom: ["*"] } },
      messages: { ackReaction: "👀", ackReactionScope: "all", removeAckAfterReply: true, queue: { mode: "followup", debounceMs: 0 } },
      session: { dmScope: "per-channel-peer" },
      plugins: {
        load: { paths: [plugin] },
        allow: ["watcher", "telegram"],
        entries: { watcher: { enabled: true, config: { file }, hooks: { allowConversationAccess: true } } },
      },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
}, 60_000);

beforeEach(connected);

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function connected(): Promise<void> {
  await expect.poll(async () => (await gateway.account("telegram"))?.connected, PATIENCE).toBe(true);
}

const hooksOf = (word: string): readonly string[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { hook: string; word?: string }]))
        .flatMap((one) => (one.word === /\d+$/.exec(word)![0] ? [one.hook] : []))
    : [];

const BEFORE = ["message_received", "inbound_claim", "before_dispatch"];

/** Kills the process once what happened so far is on disk, and starts it again. */
async function kill(): Promise<void> {
  // Commits are made in order: what was handed over before this one is on disk after it.
  await gateway.operator.request("sessions.patch", { key: "agent:main:other", label: `other ${(serial += 1)}` });
  await gateway.kill();
  await gateway.start();
}

interface Chat {
  write(text: string): Promise<unknown>;
  answers(): Promise<readonly string[]> | readonly string[];
}

const CHATS: Readonly<Record<string, () => Chat>> = {
  "chat.send"() {
    const sessionKey = `agent:main:once-${(serial += 1)}`;
    let sent = 0;
    return {
      write: (message) => gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey: `${sessionKey}-${(sent += 1)}` }),
      async answers() {
        const { payload } = await gateway.operator.request("chat.history", { sessionKey });
        const messages = (payload?.["messages"] ?? []) as readonly { role: string; content: readonly { text: string }[] }[];
        return messages.flatMap(({ role, content }) => (role === "assistant" ? content.map(({ text }) => text) : []));
      },
    };
  },
  Telegram() {
    const person = telegram.person();
    telegram.direct(person);
    return {
      write: async (text) => telegram.say(text, { from: person }),
      answers: () =>
        telegram
          .messages(person.id)
          .filter(({ byBot }) => byBot)
          .map(({ text }) => text),
    };
  },
};

test.each(Object.keys(CHATS))("over %s each hook before a turn is called once, and what it decided holds after a kill", async (entrance) => {
  const chat = CHATS[entrance]!();
  const at = (serial += 1);
  const [running, waiting, taken] = [`w-change${at}`, `w-change${at + 1}`, `w-take${(serial += 2)}`];
  gateway.model.holds(({ user }) => user.includes(`w-changed${at}`));
  await chat.write(`say ${running}`);
  await expect.poll(() => gateway.model.requests.at(-1)?.user, PATIENCE).toContain(`w-changed${at}`);
  for (const word of [waiting, taken]) {
    await chat.write(`say ${word}`);
    await expect.poll(() => hooksOf(word), PATIENCE).toEqual(BEFORE);
  }
  gateway.model.holds(undefined);
  await kill();
  await expect.poll(() => chat.answers(), PATIENCE).toEqual([`Heard w-changed${at}.`, `Heard w-changed${at + 1}.`, "took over"]);
  for (const word of [running, waiting, taken]) expect([word, ...hooksOf(word)]).toEqual([word, ...BEFORE, "reply_dispatch"]);
});

test("the sign that a message was seen goes after a kill, when the answer is there", async () => {
  const person = telegram.person();
  telegram.direct(person);
  const word = `w-seen${(serial += 1)}`;
  gateway.model.holds(({ user }) => user.includes(word));
  const { messageId } = telegram.say(`say ${word}`, { from: person });
  const reactions = () => telegram.messages(person.id).find((message) => message.id === messageId)?.reactions;
  await expect.poll(() => gateway.model.requests.at(-1)?.user, PATIENCE).toContain(word);
  await expect.poll(reactions, PATIENCE).toHaveLength(1);
  gateway.model.holds(undefined);
  await kill();
  await expect.poll(() => telegram.messages(person.id).some(({ byBot, text }) => byBot && text === `Heard ${word}.`), PATIENCE).toBe(true);
  await expect.poll(reactions, PATIENCE).toEqual([]);
});

test("a run that is given up after too many kills keeps what the user wrote", async () => {
  const sessionKey = `agent:main:given-up-${(serial += 1)}`;
  const word = `w-lost${serial}`;
  const history = async () => JSON.stringify((await gateway.operator.request("chat.history", { sessionKey })).payload ?? {});
  const asked = (): number => gateway.model.requests.filter(({ user }) => user.includes(word)).length;
  gateway.model.holds(({ user }) => user.includes(word));
  await gateway.operator.request("chat.send", { sessionKey, message: `say ${word}`, idempotencyKey: sessionKey });
  for (let life = 1; life < 10; life += 1) {
    await expect.poll(async () => asked() >= life || (await history()).includes("abandoned"), PATIENCE).toBe(true);
    if (asked() < life) break;
    await kill();
  }
  gateway.model.holds(undefined);
  await expect.poll(history, PATIENCE).toContain("abandoned");
  const { messages } = JSON.parse(await history()) as { messages: readonly { role: string; content: readonly { text: string }[]; errorMessage?: string }[] };
  expect(messages.map(({ role, content }) => [role, content.map(({ text }) => text).join("")])).toEqual([
    ["user", `say ${word}`],
    ["assistant", ""],
  ]);
});

/** Every chat command over every entrance: what it does must not depend on where it is written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/channels/index.ts";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startIrcServer, type IrcConnection, type IrcServer } from "../fakes/irc/server.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { ROOT } from "../harness/gateway-process.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

type Entry = Readonly<Record<string, unknown>>;

/** What a command is expected to do when its sender is the owner. */
interface Expected {
  /** As it is written. */
  readonly text: string;
  /** Fields of the session entry afterwards; null: not there. */
  readonly fields?: Entry;
  /** The session has another id afterwards. */
  readonly begins?: true;
  /** The turn that runs ends. */
  readonly aborts?: true;
  /** Part of the answer. */
  readonly says?: RegExp;
  /** A turn follows, in which the model reads this. */
  readonly asks?: RegExp;
  /** Documented to reach the model as it is. */
  readonly isText?: true;
}

/** One row for each command of the registry. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  help: { text: "/help", says: /\/new/ },
  commands: { text: "/commands", says: /\/whoami/ },
  status: { text: "/status", says: /acme\/large/ },
  whoami: { text: "/whoami", says: /Channel/ },
  context: { text: "/context list", says: /./ },
  "export-session": { text: "/export-session", says: /\.html|no session|Nothing/i },
  trace: { text: "/trace", says: /./ },
  stop: { text: "/stop", aborts: true },
  new: { text: "/new", begins: true, aborts: true, asks: /new conversation has just begun/ },
  reset: { text: "/reset acme/small w-fresh", begins: true, aborts: true, fields: { modelOverride: "small" }, asks: /w-fresh/ },
  compact: { text: "/compact", aborts: true, says: /ompacted/ },
  usage: { text: "/usage full", fields: { responseUsage: "full" }, says: /full/ },
  model: { text: "/model acme/small", fields: { modelOverride: "small" }, says: /small/ },
  models: { text: "/models", says: /acme/ },
  think: { text: "/think high", fields: { thinkingLevel: "high" }, says: /high/ },
  verbose: { text: "/verbose on", fields: { verboseLevel: "on" }, says: /Verbose/ },
  reasoning: { text: "/reasoning on", fields: { reasoningLevel: "on" }, says: /Reasoning/ },
  elevated: { text: "/elevated off", fields: { elevatedLevel: "off" }, says: /Elevated/ },
  exec: { text: "/exec security=deny", fields: { execSecurity: "deny" }, says: /deny/ },
  queue: { text: "/queue steer cap:7", fields: { queueMode: "steer", queueCap: 7 }, says: /steer/ },
  send: { text: "/send off", fields: { sendPolicy: "deny" }, says: /./ },
  activation: { text: "/activation always", fields: { groupActivation: null }, says: /groups only/ },
  config: { text: "/config show messages", says: /./ },
  debug: { text: "/debug show", says: /./ },
  allowlist: { text: "/allowlist list channel=telegram", says: /Allowlist/ },
  approve: { text: "/approve nothing-there deny", says: /nothing-there/ },
  subagents: { text: "/subagents", says: /./ },
  kill: { text: "/kill 1", says: /./ },
  steer: { text: "/steer 1 go on", says: /./ },
  remember: { text: "/remember the tea is green", says: /Noted in memory\/\d{4}-\d{2}-\d{2}\.md, line \d+/ },
  forget: { text: "/forget nothing-like-this-anywhere", says: /./ },
  tts: { text: "/tts status", says: /./ },
  skill: { text: "/skill nothing-there w-skill", says: /There is no skill "nothing-there"/ },
  bash: { text: "/bash help", says: /./ },
  restart: { text: "/restart", says: /estart/ },
};

/** Where a command is written. A chat of its own for each try. */
interface Chat {
  readonly sessionKey: string;
  write(text: string): void | Promise<void>;
  /** What was answered so far, oldest first. */
  answers(): readonly string[];
}

type Entrance = "webchat" | "agent" | "telegram" | "irc";
const ENTRANCES: readonly Entrance[] = ["webchat", "agent", "telegram", "irc"];
const STATES = ["first message", "running session"] as const;
const HOST = "owner.invalid";

let telegram: FakeTelegram;
let irc: IrcServer;
let line: IrcConnection;
let gateway: LabGateway;
let serial = 0;
/** People and nicks that were used. */
let used = 0;
/** Made before the gateway starts, because its configuration names them as owners. */
let people: ReturnType<FakeTelegram["person"]>[];
const nicks = Array.from({ length: 160 }, (_, at) => `p${at}`);

beforeAll(async () => {
  telegram = await startTelegram();
  irc = await startIrcServer();
  people = nicks.map(() => telegram.person());
  for (const person of people) telegram.direct(person);
  const own = { dmPolicy: "allowlist", enabled: true };
  const ids = people.map(({ id }) => String(id));
  const masks = nicks.map((nick) => `${nick}@${HOST}`);
  const large = { id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8_000, input: ["text"], reasoning: true };
  gateway = await startLabGateway({
    sections: {
      channels: {
        telegram: { ...own, botToken: telegram.token, ackReaction: "", streamMode: "off", allowFrom: ids },
        irc: { ...own, host: "127.0.0.1", port: irc.port, tls: false, nick: "claw", flood: { burst: 100_000, intervalMs: 1 }, allowFrom: masks },
      },
      session: { dmScope: "per-channel-peer" },
      commands: {
        config: true,
        debug: true,
        bash: true,
        restart: true,
        ownerAllowFrom: [...ids.map((id) => `telegram:${id}`), ...masks.map((mask) => `irc:${mask}`)],
      },
      gateway: {
        mode: "local",
        auth: { mode: "token", token: "token-of-the-lab-0123456789abcdef" },
        reload: { debounceMs: 10 },
        http: { endpoints: { chatCompletions: { enabled: true } } },
      },
      tools: { elevated: { allowFrom: { webchat: ["*"], telegram: ["*"], irc: ["*"] } } },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  const { agents, models } = gateway.sections as { agents: { defaults: object }; models: { providers: { acme: { baseUrl: string } } } };
  const small = { ...large, id: "small", name: "Small" };
  gateway.model.holds(({ user }) => user.includes("w-hold"));
  await gateway.stop();
  gateway.configure({
    agents: { defaults: { ...agents.defaults, maxConcurrent: 200 } },
    models: { providers: { acme: { ...models.providers.acme, models: [large, small] } } },
  });
  await gateway.start();
}, 60_000);

beforeEach(async () => {
  for (const channel of ["telegram", "irc"]) await expect.poll(async () => (await gateway.account(channel))?.connected, PATIENCE).toBe(true);
  // The newest connection to the IRC server is ours.
  line = irc.connections.findLast(({ isOpen }) => isOpen)!;
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  await irc?.[Symbol.asyncDispose]();
});

function chatOver(entrance: Entrance): Chat {
  const number = (serial += 1);
  if (entrance === "webchat") return webchat(`agent:main:chat-${number}`);
  if (entrance === "agent") return agentCaller(`agent:main:call-${number}`);
  const person = people[used]!;
  const nick = nicks[used]!;
  used += 1;
  if (entrance === "telegram") {
    return {
      sessionKey: `agent:main:telegram:direct:${person.id}`,
      write: (text) => void telegram.say(text, { from: person }),
      answers: () =>
        telegram
          .messages(person.id)
          .filter(({ byBot }) => byBot)
          .map(({ text }) => text),
    };
  }
  return {
    sessionKey: `agent:main:irc:direct:${nick}!u@${HOST}`,
    write: (text) => line.send(`:${nick}!u@${HOST} PRIVMSG claw :${text}`),
    answers: () => line.lines.filter(({ command, params }) => command === "PRIVMSG" && params[0] === nick).map(({ params }) => params.at(-1) ?? ""),
  };
}

function webchat(sessionKey: string): Chat {
  /** What a request itself was answered with, and after how many frames. */
  const said: { readonly at: number; readonly text: string }[] = [];
  const say = (text: string): void => void said.push({ at: gateway.operator.frames.length, text });
  return {
    sessionKey,
    async write(message) {
      const idempotencyKey = `${sessionKey}-${(serial += 1)}`;
      const { ok, payload, error } = await gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey });
      if (!ok) say(`refused: ${error?.message}`);
      // A stop is answered with what it reached, and has no run.
      else if (payload!["runIds"] !== undefined) say(`stopped ${(payload!["runIds"] as readonly string[]).length}`);
    },
    answers() {
      const sent = gateway.operator.frames.flatMap(({ event, payload }, at) => {
        if (event !== "chat" || payload!["sessionKey"] !== sessionKey || payload!["state"] !== "final") return [];
        const { content } = (payload!["message"] ?? { content: [] }) as { content: readonly { text: string }[] };
        return content.map(({ text }) => ({ at, text }));
      });
      return [...said, ...sent].toSorted((a, b) => a.at - b.at).map(({ text }) => text);
    },
  };
}

function agentCaller(sessionKey: string): Chat {
  const said: string[] = [];
  return {
    sessionKey,
    write(message) {
      const idempotencyKey = `${sessionKey}-${(serial += 1)}`;
      void gateway.operator.request("agent", { sessionKey, message, idempotencyKey }).then(
        ({ ok, payload, error }) => {
          const { payloads = [] } = (payload?.["result"] ?? {}) as { payloads?: readonly { text: string }[] };
          said.push(...(ok ? payloads.map(({ text }) => text) : [`refused: ${error?.message}`]));
        },
        () => {},
      );
    },
    answers: () => said,
  };
}

async function entryOf(key: string): Promise<Entry | undefined> {
  const { payload } = await gateway.operator.request("sessions.list", { search: key, limit: 5 });
  if (!(payload!["sessions"] as readonly Entry[]).some((session) => session["key"] === key)) return undefined;
  // The list does not have every field; a patch that changes nothing gives the whole entry.
  const { payload: patched } = await gateway.operator.request("sessions.patch", { key });
  return patched!["entry"] as Entry;
}

const asked = (word: string): boolean => gateway.model.requests.some(({ user }) => user.includes(word));

/** One try: writes the command, and checks that it was answered, that it did what it is for, and that no model was asked about it. */
async function tried(name: string, entrance: Entrance, state: (typeof STATES)[number]): Promise<void> {
  const { text, fields = {}, begins, aborts, says, asks, isText } = EXPECTED[name]!;
  // What is text waits for the turn that runs.
  if (isText && state === "running session") return;
  const chat = chatOver(entrance);
  const where = `${text} over ${entrance}, ${state}`;
  const hold = `w-hold${serial}x`;
  if (state === "running session") {
    await chat.write(`please ${hold}`);
    await expect.poll(() => asked(hold), { ...PATIENCE, message: `${where}: the turn begins` }).toBe(true);
  }
  const before = await entryOf(chat.sessionKey);
  const known = chat.answers().length;
  await chat.write(text);
  const fresh = (): readonly string[] => chat.answers().slice(known);
  await expect.poll(() => fresh().length, { ...PATIENCE, message: `${where}: an answer` }).toBeGreaterThan(0);
  if (says) await expect.poll(() => fresh().join("\n"), { ...PATIENCE, message: where }).toMatch(says);
  expect(fresh().join("\n"), where).not.toContain("still active");
  if (asks) await expect.poll(() => gateway.model.requests.some(({ user }) => asks.test(user)), { ...PATIENCE, message: where }).toBe(true);
  for (const [field, value] of Object.entries(fields)) {
    const now = async (): Promise<unknown> => (await entryOf(chat.sessionKey))?.[field] ?? null;
    await expect.poll(now, { ...PATIENCE, message: `${where}: ${field}` }).toEqual(value);
  }
  if (begins && before) await expect.poll(async () => (await entryOf(chat.sessionKey))?.["sessionId"], PATIENCE).not.toBe(before["sessionId"]);
  if (!begins && before) expect((await entryOf(chat.sessionKey))?.["sessionId"], where).toBe(before["sessionId"]);
  if (state !== "running session") return;
  const running = async (): Promise<boolean> => {
    const { payload } = await gateway.operator.request("chat.page", { sessionKey: chat.sessionKey });
    return ((payload?.["runs"] ?? []) as readonly unknown[]).length > 0;
  };
  if (aborts) await expect.poll(running, { ...PATIENCE, message: `${where}: the turn ends` }).toBe(false);
}

test("the registry has every documented command with its aliases, and this table every command of the registry", () => {
  const { commands } = JSON.parse(readFileSync(join(ROOT, "test/fixtures/commands/documented.json"), "utf8")) as { commands: readonly string[][] };
  for (const names of commands) {
    const found = COMMANDS.find((command) => command.names[0] === names[0]);
    expect([names[0], found?.names]).toEqual([names[0], expect.arrayContaining(names)]);
  }
  expect(Object.keys(EXPECTED).toSorted()).toEqual(COMMANDS.map(({ names: [name] }) => name).toSorted());
});

/** Everything that a model was asked which looks like a command of the registry. */
function leaked(): readonly string[] {
  const names = COMMANDS.flatMap((command) => (EXPECTED[command.names[0]]!.isText ? [] : command.names)).join("|");
  const shown = new RegExp(`(?:^|\\s)/(?:${names})(?=\\s|$)`, "i");
  return gateway.model.requests.map(({ user }) => user).filter((user) => shown.test(user) && !user.includes("w-verbatim"));
}

const rows = Object.keys(EXPECTED).filter((name) => name !== "restart");

describe("as the owner", () => {
  test.each(rows)("/%s does the same over every entrance, first and while a turn runs", async (name) => {
    await Promise.all(STATES.flatMap((state) => ENTRANCES.map((entrance) => tried(name, entrance, state))));
    expect(leaked()).toEqual([]);
  });
});

test("what a client sets shows in its answers: /usage full and /reasoning on, over chat.send and agent", async () => {
  gateway.model.thinks("it is w-thought");
  for (const entrance of ["webchat", "agent"] as const) {
    const chat = chatOver(entrance);
    for (const command of ["/usage full", "/reasoning on"]) {
      const known = chat.answers().length;
      await chat.write(command);
      await expect.poll(() => chat.answers().length, PATIENCE).toBe(known + 1);
    }
    const known = chat.answers().length;
    await chat.write("say w-shown");
    await expect
      .poll(() => chat.answers().slice(known).join("\n\n"), PATIENCE)
      .toMatch(/^Reasoning:\nit is w-thought\n\nHeard w-shown\.\n\nUsage: .* out · session /);
  }
  gateway.model.thinks(undefined);
});

test("a question inside of a client's text is answered beside the turn, and a setting there holds for that message only", async () => {
  for (const entrance of ["webchat", "agent"] as const) {
    const chat = chatOver(entrance);
    await chat.write("/model acme/small tell me w-inline and /whoami please");
    await expect.poll(() => chat.answers().join("\n"), PATIENCE).toMatch(/Channel[^]*Heard w-inline/);
    const request = gateway.model.requests.findLast(({ user }) => user.includes("w-inline"))!;
    expect(JSON.parse(request.body)).toMatchObject({ model: "small" });
    expect(request.user).not.toMatch(/\/model|\/whoami/);
    expect((await entryOf(chat.sessionKey))?.["modelOverride"]).toBeUndefined();
  }
});

test("/new over agent resets the session once, however often the call is repeated", async () => {
  const sessionKey = `agent:main:once-${(serial += 1)}`;
  const call = { sessionKey, message: "/new w-once", idempotencyKey: `once-${serial}` };
  const first = await gateway.operator.request("agent", call);
  const id = (await entryOf(sessionKey))?.["sessionId"];
  expect(await gateway.operator.request("agent", call)).toMatchObject({ ok: true, payload: first.payload! });
  expect((await entryOf(sessionKey))?.["sessionId"]).toBe(id);
});

test("what is written right behind /new belongs to the new session", async () => {
  const chat = chatOver("webchat");
  await chat.write("say w-before");
  await expect.poll(() => chat.answers().length, PATIENCE).toBe(1);
  await Promise.all([chat.write("/new say w-fresh1"), chat.write("say w-fresh2")]);
  await expect.poll(() => chat.answers().join(" "), PATIENCE).toMatch(/w-fresh1[^]*w-fresh2/);
  const { body } = gateway.model.requests.findLast(({ user }) => user.includes("w-fresh2"))!;
  expect([body.includes("w-fresh1"), body.includes("w-before")]).toEqual([true, false]);
});

test("openclaw agent --message runs the command", async () => {
  const sessionKey = "agent:main:main";
  await gateway.operator.request("agent", { sessionKey, message: "say w-cli", idempotencyKey: "cli-0" });
  const before = (await entryOf(sessionKey))?.["sessionId"];
  expect(await gateway.cli("agent", "--agent", "main", "--message", "/think high")).toMatchObject({
    code: 0,
    output: expect.stringContaining("high") as string,
  });
  expect(await gateway.cli("agent", "--agent", "main", "--message", "/reset say w-fresh")).toMatchObject({
    code: 0,
    output: expect.stringContaining("Heard w-fresh") as string,
  });
  expect(await entryOf(sessionKey)).toMatchObject({ thinkingLevel: "high", sessionId: expect.not.stringMatching(String(before)) as string });
  expect(leaked()).toEqual([]);
}, 60_000);

test("commands work in a session that may not be written to, and what they would ask a model is refused", async () => {
  for (const entrance of ["webchat", "agent"] as const) {
    const chat = chatOver(entrance);
    const says = async (text: string): Promise<string> => {
      const known = chat.answers().length;
      await chat.write(text);
      await expect.poll(() => chat.answers().length, { ...PATIENCE, message: text }).toBeGreaterThan(known);
      return chat.answers().slice(known).join("\n");
    };
    await says("/send off");
    expect(await says("say w-silenced")).toContain("send blocked by session policy");
    expect(await says("/status")).toContain("acme/large");
    expect(await says("/send on")).toContain("sent");
    expect(await says("say w-again")).toContain("Heard w-again");
  }
  expect(asked("w-silenced")).toBe(false);
});

test("/v1 keeps treating text as text", async () => {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "openclaw", user: "text-only", messages: [{ role: "user", content: "/think high and w-verbatim" }] }),
  });
  expect(answer.status, await answer.clone().text()).toBe(200);
  expect(gateway.model.requests.findLast(({ user }) => user.includes("w-verbatim"))?.user).toContain("/think high");
});

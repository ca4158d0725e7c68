import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { createTestHost } from "openclaw/plugin-sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeTelegram, startTelegram } from "../../test/fakes/telegram/index.ts";
import type { TelegramAccount } from "./account.ts";
import { createTelegramPlugin, type TelegramChannel } from "./channel.ts";
import { menuOf } from "./commands.ts";
import { parseTarget } from "./send/sender.ts";
import { configOf } from "./testing.ts";

const plugins = [fileURLToPath(new URL(".", import.meta.url))];
const TOKEN = "123456789:AAFabcdefghijklmnopqrstuvwxyz01234567";

describe("in a host", () => {
  test("the channel is registered with the accounts of the configuration", async () => {
    const telegram = {
      botToken: TOKEN,
      capabilities: { inlineButtons: "dm" },
      groups: { "*": { requireMention: true }, "-100123": { allowFrom: [5], tools: { deny: ["exec"] }, topics: { 7: { skills: ["a"], systemPrompt: "x" } } } },
      customCommands: [{ command: "hi", description: "Says hi" }],
      retry: { attempts: 3 },
      accounts: { two: { botToken: TOKEN, dmPolicy: "allowlist", allowFrom: [5, "tg:6"] } },
    };
    await using host = await createTestHost({ plugins, config: { channels: { telegram } } });
    expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
    const { config } = host.channel("telegram") as ChannelPlugin<TelegramAccount>;
    const cfg = { channels: { telegram } };
    expect(config.listAccountIds(cfg)).toEqual(["two"]);
    expect(config.resolveAccount(cfg, "two")).toMatchObject({ token: TOKEN, tokenSource: "config", buttons: "dm", streamMode: "partial" });
  });

  test("it sends as it is loaded there", async () => {
    await using telegram = await startTelegram();
    process.env["OPENCLAW_TEST_TELEGRAM_API_ROOT"] = telegram.apiRoot;
    try {
      await using host = await createTestHost({ plugins });
      const { chatId } = telegram.say("/start");
      await (host.channel("telegram") as ChannelPlugin).outbound!.sendText!({ cfg: configOf(telegram.token), to: String(chatId), text: "**hello**" });
      expect(telegram.messages(chatId).at(-1)).toMatchObject({ text: "hello", entities: [{ type: "bold" }] });
    } finally {
      delete process.env["OPENCLAW_TEST_TELEGRAM_API_ROOT"];
    }
  });

  test("the schema sets no defaults: an account would hide its channel's keys with them", () => {
    expect(readFileSync(new URL("openclaw.plugin.json", import.meta.url), "utf8")).not.toContain('"default"');
  });
});

describe("an account", () => {
  const { config, setup, security } = createTelegramPlugin();

  test("takes its token from its own keys, a file, or its channel's", () => {
    const folder = mkdtempSync(join(tmpdir(), "telegram-token-"));
    try {
      writeFileSync(join(folder, "token"), ` ${TOKEN}\n`);
      const cfg = {
        channels: {
          telegram: { botToken: "1:base", accounts: { default: {}, file: { tokenFile: join(folder, "token") }, none: {}, own: { botToken: "2:own" } } },
        },
      };
      const token = (id: string) => config.resolveAccount(cfg, id).token;
      expect([token("default"), token("file"), token("none"), token("own")]).toEqual(["1:base", TOKEN, "", "2:own"]);
      expect(config.isConfigured?.(config.resolveAccount(cfg, "none"), cfg)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("leaves out what its channel says, and does not hide it", () => {
    const cfg = { channels: { telegram: { streamMode: "off", dmPolicy: "disabled" as const, accounts: { a: {}, b: { streamMode: "block" } } } } };
    expect([config.resolveAccount(cfg, "a").streamMode, config.resolveAccount(cfg, "b").streamMode]).toEqual(["off", "block"]);
    expect(security?.resolveDmPolicy?.({ cfg, accountId: "a", account: config.resolveAccount(cfg, "a") })?.policy).toBe("disabled");
  });

  test.each([
    [{ token: TOKEN }, null],
    [{ botToken: TOKEN }, null],
    [{ tokenFile: "/run/token" }, null],
    [{ useEnv: true }, null],
    [{}, "needs a bot token"],
    [{ token: "nonsense" }, "not a bot token"],
  ])("set up with %j", (input, words) => {
    const answer = setup!.validateInput!({ cfg: {}, accountId: "default", input });
    if (words === null) expect(answer).toBeNull();
    else expect(answer).toContain(words);
  });

  test("is added beside others, switched off and removed", () => {
    const one = setup!.applyAccountConfig({ cfg: {}, accountId: "default", input: { token: TOKEN, name: "Main" } });
    expect(one).toEqual({ channels: { telegram: { enabled: true, botToken: TOKEN, name: "Main" } } });
    const two = setup!.applyAccountConfig({ cfg: one, accountId: "Work Bot", input: { tokenFile: "/t" } });
    expect(two).toMatchObject({ channels: { telegram: { botToken: TOKEN, accounts: { "work-bot": { enabled: true, tokenFile: "/t" } } } } });
    const off = config.setAccountEnabled!({ cfg: two, accountId: "work-bot", enabled: false });
    expect(config.resolveAccount(off, "work-bot").enabled).toBe(false);
    expect(config.deleteAccount!({ cfg: one, accountId: "default" })).toEqual({});
    expect(setup!.validateInput!({ cfg: {}, accountId: "work", input: { useEnv: true } })).toContain("default account only");
  });

  test("that is signed out loses its token, and nothing else", async () => {
    let file: Record<string, unknown> = { channels: { telegram: { botToken: "1:a", name: "Main", accounts: { two: { tokenFile: "/t", name: "Two" } } } } };
    const mutateConfigFile = async ({ mutate }: { mutate(draft: object): Record<string, unknown> }) => (file = mutate(file));
    const channel = createTelegramPlugin({ runtime: { config: { mutateConfigFile }, state: {} } as never });
    const logout = (accountId: string) =>
      channel.gateway!.logoutAccount!({ cfg: file, accountId, account: channel.config.resolveAccount(file, accountId), runtime: {} } as never);
    expect(await logout("default")).toEqual({ cleared: true, loggedOut: true, envToken: false });
    expect(file).toEqual({ channels: { telegram: { name: "Main", accounts: { two: { tokenFile: "/t", name: "Two" } } } } });
    expect(await logout("default")).toMatchObject({ cleared: false });
  });

  test("is warned about lists that admit nobody, and about open policies", async () => {
    const cfg = { channels: { telegram: { allowFrom: ["@ada", "tg:5", 6, "*"], groupPolicy: "open" as const } } };
    const warnings = await security!.collectWarnings!({ cfg, accountId: "default", account: config.resolveAccount(cfg, "default") });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain("@ada");
    expect(warnings[1]).toContain("every group");
  });
});

describe("groups", () => {
  const { groups } = createTelegramPlugin();
  const cfg = {
    channels: {
      telegram: {
        groups: {
          "-1": {
            requireMention: false,
            topics: { 7: { requireMention: true } },
            toolsBySender: { "5": { allow: ["a"] }, ada: { allow: ["b"] } },
            tools: { allow: ["c"] },
          },
          "*": { requireMention: true },
        },
        accounts: { two: { groups: { "-1": { requireMention: true } } } },
      },
    },
  };
  test.each([
    ["a group", "-1", undefined, false],
    ["its topic", "-1:topic:7", undefined, true],
    ["another topic", "-1:topic:8", undefined, false],
    ["another group", "-2", undefined, true],
    ["an account with groups of its own", "-1", "two", true],
  ])("%s", (_, groupId, accountId, expected) => expect(groups!.resolveRequireMention!({ cfg, groupId, accountId })).toBe(expected));

  test("tools go by ids, never by names that people choose", () => {
    expect(groups!.resolveToolPolicy!({ cfg, groupId: "-1", senderId: "5" })).toEqual({ allow: ["a"] });
    expect(groups!.resolveToolPolicy!({ cfg, groupId: "-1", senderId: "6", senderUsername: "ada", senderName: "5" })).toEqual({ allow: ["c"] });
  });
});

describe("targets", () => {
  test.each<[string, string | number | undefined, object]>([
    ["telegram:123", undefined, { chatId: 123 }],
    ["tg:-1001234567890", undefined, { chatId: -1_001_234_567_890 }],
    ["telegram:group:-100:topic:7", undefined, { chatId: -100, threadId: 7 }],
    ["-100:7", undefined, { chatId: -100, threadId: 7 }],
    ["-100:topic:7", 9, { chatId: -100, threadId: 9 }],
    ["-100", "8", { chatId: -100, threadId: 8 }],
    ["@news_room", undefined, { chatId: "@news_room" }],
    ["https://t.me/news_room", undefined, { chatId: "@news_room" }],
    ["newsroom", undefined, { chatId: "@newsroom" }],
  ])("%s", (to, threadId, target) => expect(parseTarget(to, threadId)).toEqual(target));
});

test("the menu has names that Telegram takes, each once, and no more than a hundred", () => {
  const own = [
    { command: "/Hi-There", description: "own" },
    { command: "new", description: "twice" },
    { command: "bad name", description: "x" },
  ];
  const menu = menuOf(
    [
      { name: "new", description: "d".repeat(300) },
      { name: "ünicode", description: "x" },
      { name: "empty", description: " " },
    ],
    own,
  );
  expect(menu.map(({ command, description }) => [command, description.length])).toEqual([
    ["new", 256],
    ["hi_there", 3],
  ]);
  expect(
    menuOf(
      Array.from({ length: 150 }, (_, index) => ({ name: `c${index}`, description: "x" })),
      [],
    ),
  ).toHaveLength(100);
});

describe("with Telegram", () => {
  let telegram: FakeTelegram;
  let channel: TelegramChannel;
  let chat: number;
  beforeEach(async () => {
    telegram = await startTelegram();
    channel = createTelegramPlugin({ apiRoot: telegram.apiRoot });
    chat = telegram.say("/start").chatId;
  });
  afterEach(async () => {
    channel[Symbol.dispose]();
    await telegram[Symbol.asyncDispose]();
  });
  const cfg = (more: Record<string, unknown> = {}) => configOf(telegram.token, more);
  const place = () => ({ cfg: cfg(), accountId: "default", to: `telegram:${chat}`, signal: new AbortController().signal });

  test("the menu is replaced", async () => {
    const register = (names: string[], more = {}) =>
      channel.nativeCommands!.register({ ...place(), cfg: cfg(more), commands: names.map((name) => ({ name, description: name, acceptsArgs: false })) });
    await register(["new", "help"], { customCommands: [{ command: "hi", description: "Says hi" }] });
    expect(telegram.menu().map(({ command }) => command)).toEqual(["new", "help", "hi"]);
    await register([]);
    expect(telegram.menu()).toEqual([]);
  });

  test("typing is shown, in General as well", async () => {
    await channel.typing!.start(place());
    const group = telegram.group({ forum: true });
    await channel.typing!.start({ ...place(), to: `telegram:${group.id}`, threadId: 1 });
    expect(telegram.calls("sendChatAction").map(({ params }) => [params["action"], Number(params["message_thread_id"] ?? 0)])).toEqual([
      ["typing", 0],
      ["typing", 1],
    ]);
  });

  test("reactions are set and taken away", async () => {
    const { messageId } = telegram.say("hello");
    const at = { ...place(), messageId: String(messageId) };
    const reactions = () => telegram.messages(chat).find(({ id }) => id === messageId)!.reactions;
    await channel.reactions!.set({ ...at, emoji: "👀" });
    expect(reactions()).toEqual(["👀"]);
    await channel.reactions!.set({ ...at, emoji: "" });
    expect(reactions()).toEqual([]);
    await channel.reactions!.set({ ...at, messageId: "4382bfdwdsb323b2d9", emoji: "👀" });
    await expect(channel.reactions!.set({ ...at, emoji: "🦞" })).rejects.toMatchObject({ delivery: { state: "failed" } });
  });

  test("files are fetched, up to a limit", async () => {
    telegram.say("", { file: { kind: "document", data: Buffer.from("words"), name: "notes.txt", mime: "text/plain" } });
    const update = (await (await fetch(`${telegram.apiRoot}/bot${telegram.token}/getUpdates`)).json()) as {
      result: { message: { document?: { file_id: string } } }[];
    };
    const fileId = update.result.at(-1)!.message.document!.file_id;
    const fetchFile = (ref: unknown, maxBytes: number) => channel.media!.fetch({ ...place(), ref, maxBytes });
    const got = await fetchFile({ fileId, mimeType: "text/plain", fileName: "notes.txt" }, 1000);
    expect([Buffer.from(got.data).toString(), got.mimeType, got.fileName]).toEqual(["words", "text/plain", "notes.txt"]);
    await expect(fetchFile({ fileId }, 4)).rejects.toThrow("the limit is 4");
    await expect(fetchFile({}, 4)).rejects.toThrow("fileId");
    const error = await fetchFile({ fileId: "unknown" }, 4).catch(String);
    expect(error).toContain("getFile");
    expect(error).not.toContain(telegram.token);
  });

  test("a person who was approved is notified", async () => {
    await channel.pairing!.notifyApproval!({ cfg: cfg(), id: String(chat) });
    expect(telegram.messages(chat).at(-1)!.text).toContain("approved");
    expect(channel.pairing).toMatchObject({ idLabel: "telegramUserId" });
    expect(channel.pairing!.normalizeAllowEntry!("tg:5")).toBe("5");
  });

  test("its state is reported, and what is wrong with it", async () => {
    const account = channel.config.resolveAccount(cfg({ allowFrom: ["@ada"], groups: { "-100999": { requireMention: false } } }));
    const probe = await channel.status!.probeAccount!({ account, timeoutMs: 5000, cfg: cfg() });
    expect(probe).toMatchObject({ ok: true, bot: { username: telegram.bot.username }, webhook: { url: expect.any(String) as unknown } });
    const audit = await channel.status!.auditAccount!({ account, timeoutMs: 5000, cfg: cfg(), probe });
    expect(audit).toMatchObject({ ok: false, groups: [{ chatId: "-100999", ok: false }] });
    const snapshot = await channel.status!.buildAccountSnapshot!({ account, cfg: cfg(), probe, audit });
    expect(snapshot).toMatchObject({ accountId: "default", configured: true, tokenSource: "config", mode: "polling", dmPolicy: "pairing" });
    const issues = channel.status!.collectStatusIssues!([snapshot]).map(({ message }) => message);
    expect(issues.some((message) => message.includes("-100999"))).toBe(true);
    expect(issues.some((message) => message.includes("@ada"))).toBe(true);
    expect(JSON.stringify([snapshot, issues])).not.toContain(telegram.token);
  });

  test("a token that Telegram does not know is named as such", async () => {
    const account = channel.config.resolveAccount(configOf("1:wrong"));
    const probe = await channel.status!.probeAccount!({ account, timeoutMs: 5000, cfg: cfg() });
    expect(probe.ok).toBe(false);
    const snapshot = await channel.status!.buildAccountSnapshot!({ account, cfg: cfg(), probe });
    expect(channel.status!.collectStatusIssues!([snapshot]).map(({ kind }) => kind)).toContain("auth");
    expect(JSON.stringify(probe)).not.toContain("1:wrong");
  });

  describe("actions", () => {
    const act = (action: string, params: Record<string, unknown>, more: Record<string, unknown> = {}) =>
      channel.actions!.handleAction!({
        channel: "telegram",
        action: action as never,
        cfg: cfg({ actions: more }),
        params,
        toolContext: { currentChannelId: `telegram:${chat}` },
      });
    const sentId = () => telegram.messages(chat).at(-1)!.id;

    test("send, edit, react, delete", async () => {
      expect((await act("send", { to: String(chat), message: "**hi**", buttons: [[{ text: "A" }]] })).details).toMatchObject({
        ok: true,
        chatId: String(chat),
      });
      const id = sentId();
      await act("edit", { messageId: id, message: "changed" });
      await act("react", { messageId: String(id), emoji: "👍" });
      expect(telegram.messages(chat).at(-1)).toMatchObject({ text: "changed", reactions: ["👍"] });
      await act("react", { messageId: id, emoji: "👍", remove: true });
      expect(telegram.messages(chat).at(-1)).toMatchObject({ reactions: [] });
      await act("delete", { messageId: id });
      expect(telegram.messages(chat).some((message) => message.id === id)).toBe(false);
    });

    test("the agent reacts as far as reactionLevel lets it, and buttons follow the account", async () => {
      const react = (reactionLevel: string) =>
        channel.actions!.handleAction!({
          channel: "telegram",
          action: "react",
          cfg: cfg({ reactionLevel }),
          params: { to: String(chat), messageId: 1, emoji: "👍" },
        });
      await expect(react("ack")).rejects.toThrow("channels.telegram.reactionLevel to minimal or extensive");
      expect(channel.actions!.listActions!({ cfg: cfg({ reactionLevel: "off" }) })).not.toContain("react");
      const guidance = (own: Record<string, unknown>) => channel.agentPrompt!.reactionGuidance!({ cfg: cfg(own) })?.level;
      expect(["off", "ack", "minimal", "extensive"].map((reactionLevel) => guidance({ reactionLevel }))).toEqual([
        undefined,
        undefined,
        "minimal",
        "extensive",
      ]);
      expect([guidance({}), guidance({ actions: { reactions: false } })]).toEqual(["minimal", undefined]);
      const accounts = { loud: { botToken: TOKEN }, calm: { botToken: "2:AAabcdefghijklmnopqrstuvw", capabilities: { inlineButtons: "off" } } };
      const has = (accountId?: string) => channel.actions!.supportsButtons!({ cfg: cfg({ accounts }), accountId });
      expect([has(), has("loud"), has("calm")]).toEqual([true, true, false]);
      expect(channel.agentPrompt!.messageToolHints!({ cfg: cfg({ capabilities: { inlineButtons: "dm" } }) })).toEqual([
        "On Telegram buttons can be sent to direct chats only.",
      ]);
    });

    test("topics are made", async () => {
      const group = telegram.group({ forum: true });
      const { details } = await act("topic-create", { to: String(group.id), name: "Plans" });
      expect(details).toMatchObject({ ok: true, name: "Plans" });
    });

    test("those that are off are refused, and none is tried in a rehearsal", async () => {
      await expect(act("sticker", { fileId: "x" })).rejects.toThrow("channels.telegram.actions.sticker");
      await expect(act("delete", { messageId: 1 }, { deleteMessage: false })).rejects.toThrow("deleteMessage");
      await expect(act("ban", {})).rejects.toThrow("no action");
      const before = telegram.calls().length;
      await channel.actions!.handleAction!({ channel: "telegram", action: "send", cfg: cfg(), params: { to: "5", message: "x" }, dryRun: true });
      expect(telegram.calls()).toHaveLength(before);
      expect(channel.actions!.listActions!({ cfg: cfg() })).toEqual(["send", "react", "delete", "edit", "topic-create"]);
      expect(channel.actions!.listActions!({ cfg: {} })).toEqual([]);
    });
  });

  test("onboarding asks for a token that looks like one", async () => {
    const asked: string[] = [];
    const prompter = {
      note: async () => {},
      confirm: async () => false,
      text: async ({ validate }: { validate?(value: string): string | undefined }) => {
        asked.push(String(validate?.("nonsense")));
        return TOKEN;
      },
    };
    const result = await channel.onboarding!.configure({
      cfg: {},
      prompter,
      accountOverrides: {},
      shouldPromptAccountIds: false,
      forceAllowFrom: false,
      runtime: {},
    } as never);
    expect(result).toEqual({ accountId: "default", cfg: { channels: { telegram: { enabled: true, botToken: TOKEN } } } });
    expect(asked[0]).toContain("not a bot token");
    expect(await channel.onboarding!.getStatus({ cfg: result.cfg, accountOverrides: {} })).toMatchObject({ configured: true });
  });
});

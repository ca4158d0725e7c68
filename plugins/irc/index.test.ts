import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { createTestHost } from "openclaw/plugin-sdk/testing";
import { describe, expect, test } from "vitest";
import type { IrcAccount } from "./account.ts";
import { createIrcPlugin } from "./channel.ts";
import { TIMES } from "./connection/session.ts";
import { parseTarget } from "./target.ts";

const plugins = [fileURLToPath(new URL(".", import.meta.url))];
const SERVER = { host: "irc.example.org", nick: "claw" };

describe("in a host", () => {
  test("the channel is registered with the accounts of the configuration", async () => {
    const irc = {
      ...SERVER,
      channels: ["#a", "#b key"],
      sasl: { account: "claw", password: "x" },
      nickserv: { password: "y", register: true, registerEmail: "a@example.org" },
      groups: { "*": { requireMention: true }, "#a": { allowFrom: ["account:ada"], tools: { deny: ["exec"] }, skills: ["s"], systemPrompt: "x" } },
      flood: { burst: 2, intervalMs: 500 },
      mentionPatterns: ["bot"],
      accounts: { two: { nick: "claw2", dmPolicy: "allowlist", allowFrom: ["ada@example.org"] } },
    };
    await using host = await createTestHost({ plugins, config: { channels: { irc } } });
    expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
    const { config, capabilities } = host.channel("irc") as ChannelPlugin<IrcAccount>;
    expect(capabilities).toEqual({ chatTypes: ["direct", "group"], blockStreaming: true });
    const cfg = { channels: { irc } };
    expect(config.listAccountIds(cfg)).toEqual(["two"]);
    expect(config.resolveAccount(cfg, "two")).toMatchObject({ host: "irc.example.org", nick: "claw2", username: "claw2", port: 6697, tls: true, problems: [] });
  });

  test("the schema sets no defaults: an account would hide its channel's keys with them", () => {
    expect(readFileSync(new URL("openclaw.plugin.json", import.meta.url), "utf8")).not.toContain('"default"');
  });
});

describe("an account", () => {
  const read = (irc: Record<string, unknown>, env: Record<string, string> = {}, id?: string): IrcAccount =>
    createIrcPlugin({ env }).config.resolveAccount({ channels: { irc } }, id);

  test("has the usual ports", () => {
    expect(read(SERVER)).toMatchObject({
      port: 6697,
      tls: true,
      username: "claw",
      realname: "OpenClaw",
      textLimit: 350,
      dmPolicy: "pairing",
      groupPolicy: "allowlist",
    });
    expect(read({ ...SERVER, tls: false })).toMatchObject({ port: 6667, tls: false });
    expect(read({ ...SERVER, port: 7000 }).port).toBe(7000);
  });

  test("is set up by the environment, which wins, for the default account only", () => {
    const env = {
      IRC_HOST: "env.example.org",
      IRC_NICK: "envnick",
      IRC_PASSWORD: "envpass",
      IRC_TLS: "false",
      IRC_PORT: "7001",
      IRC_CHANNELS: "#x,#y",
      IRC_NICKSERV_PASSWORD: "ns",
    };
    const channel = createIrcPlugin({ env });
    expect(channel.config.listAccountIds({})).toEqual(["default"]);
    expect(read({ ...SERVER, password: "file" }, env)).toMatchObject({
      host: "env.example.org",
      nick: "envnick",
      password: "envpass",
      passwordSource: "env",
      tls: false,
      port: 7001,
      nickserv: { service: "NickServ", password: "ns" },
      channels: [{ name: "#x" }, { name: "#y" }],
    });
    expect(read({ accounts: { two: SERVER } }, env, "two")).toMatchObject({
      host: "irc.example.org",
      nick: "claw",
      password: "",
      passwordSource: "none",
      port: 6697,
    });
  });

  test("reads its passwords from files", () => {
    const folder = mkdtempSync(join(tmpdir(), "irc-password-"));
    try {
      const file = join(folder, "password");
      writeFileSync(file, " hush\n");
      const passwordFile = { passwordFile: file };
      expect(read({ ...SERVER, ...passwordFile, sasl: passwordFile, nickserv: passwordFile })).toMatchObject({
        password: "hush",
        passwordSource: "passwordFile",
        sasl: { account: "claw", password: "hush" },
        nickserv: { password: "hush" },
        problems: [],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    ["no server", { nick: "claw" }, "channels.irc.host"],
    ["no nick", { host: "irc.example.org" }, "channels.irc.nick"],
    ["a nick of two words", { ...SERVER, nick: "claw bot" }, "is not a valid nick"],
    ["a line break in a name", { ...SERVER, realname: "x\r\nQUIT" }, "realname"],
    ["a line break in a password", { ...SERVER, password: "x\nOPER a b" }, "password"],
    ["a port that is none", { ...SERVER, port: 99_999 }, "port"],
    ["SASL without a password", { ...SERVER, sasl: { account: "x" } }, "sasl"],
    ["a registration without an address", { ...SERVER, nickserv: { password: "x", register: true } }, "registerEmail"],
    ["a NickServ password of two words", { ...SERVER, nickserv: { password: "x y" } }, "nickserv.password"],
  ])("cannot be started with %s", async (_what, irc, says) => {
    const account = read(irc);
    expect(account.problems.join("; ")).toContain(says);
    const { config, gateway } = createIrcPlugin();
    expect(config.isConfigured!(account, {})).toBe(false);
    const context = { cfg: {}, accountId: "default", account, abortSignal: new AbortController().signal, setStatus: () => {}, inbound: { accept: () => {} } };
    await expect(gateway!.startAccount!(context as never)).rejects.toMatchObject({ permanent: true });
  });

  test("what an account leaves out is its channel's", () => {
    const irc = { ...SERVER, dmPolicy: "disabled", groups: { "#a": {} }, accounts: { two: { nick: "two" } } };
    expect(read(irc, {}, "two")).toMatchObject({ dmPolicy: "disabled", groups: { "#a": {} }, nick: "two" });
  });
});

describe("who may write", () => {
  const { config, security, groups } = createIrcPlugin();
  const warningsOf = (keys: object): string =>
    (security!.collectWarnings!({ cfg: {}, account: config.resolveAccount({ channels: { irc: { ...SERVER, ...keys } } }) }) as string[]).join("\n");

  test("entries are spelled one way", () => {
    const allowFrom = ["irc:Ada@Example.org", "user:Bob!~b@h", "ACCOUNT:Eve", " *"];
    expect(config.formatAllowFrom!({ cfg: {}, allowFrom })).toEqual(["ada@example.org", "bob!~b@h", "account:eve", "*"]);
  });

  test("names that anybody can take are warned of", () => {
    expect(warningsOf({ allowFrom: ["ada@h", "account:eve", "*"] })).toBe("");
    expect(warningsOf({ allowFrom: ["ada"], groups: { "#x": { allowFrom: ["bob!b"] } } })).toContain("match nobody: ada, bob!b");
    expect(warningsOf({ allowFrom: ["ada"], dangerouslyAllowNameMatching: true })).toContain("anyone who uses the name ada is allowed");
    expect(warningsOf({ groupPolicy: "open" })).toContain("every channel");
    expect(warningsOf({ tls: false })).toContain("can be read in transit");
  });

  test("rules of channels hold whatever the case, tools by id only", () => {
    const irc = {
      ...SERVER,
      groups: {
        "#Dev": { requireMention: false, toolsBySender: { "account:Ada": { allow: ["exec"] }, ada: { allow: ["all"] } }, tools: { deny: ["exec"] } },
        "*": { tools: { deny: ["read"] } },
      },
    };
    const cfg = { channels: { irc } };
    expect(groups!.resolveRequireMention!({ cfg, groupId: "#DEV" })).toBe(false);
    expect(groups!.resolveRequireMention!({ cfg, groupId: "#other" })).toBe(true);
    const tools = (groupId: string, senderId: string) => groups!.resolveToolPolicy!({ cfg, groupId, senderId, senderName: "ada", senderUsername: "ada" });
    expect(tools("#dev", "account:ada")).toEqual({ allow: ["exec"] });
    expect(tools("#dev", "ada!a@h")).toEqual({ deny: ["exec"] });
    expect(tools("#other", "account:ada")).toEqual({ deny: ["read"] });
  });
});

describe("targets", () => {
  test.each([
    ["irc:#Help", "#Help"],
    ["channel:help", "#help"],
    ["channel:#help", "#help"],
    ["&local", "&local"],
    ["@#ops", "@#ops"],
    ["user:ada", "ada"],
    ["irc:ada!a@example.org", "ada"],
    ["ada", "ada"],
  ])("%s is %s", (given, name) => {
    expect(parseTarget(given).name).toBe(name);
    expect(createIrcPlugin().messaging!.normalizeTarget!(given)).toBe(name);
  });
});

describe("texts", () => {
  const started = async () => {
    const channel = createIrcPlugin();
    // The account does not get far, but it loads what reads Markdown.
    const context = {
      cfg: {},
      accountId: "default",
      account: channel.config.resolveAccount({}),
      abortSignal: new AbortController().signal,
      setStatus: () => {},
    };
    await channel.gateway!.startAccount!(context as never).catch(() => {});
    return channel.outbound!.chunker!;
  };

  test("Markdown becomes plain lines, with the addresses of links", async () => {
    const lines = (await started())(
      "# Title\n\nSome **bold** and [a link](https://example.org/x).\n\n- one\n- two\n\n```js\nlet x = 2 * 3 * 4;\n\nrun();\n```",
      350,
    );
    expect(lines).toEqual(["Title", "Some bold and a link (https://example.org/x).", "• one", "• two", "let x = 2 * 3 * 4;", "run();"]);
  });

  test("lines are measured in bytes, and cut between characters", async () => {
    const chunker = await started();
    for (const text of ["ж".repeat(1000), "👩‍👩‍👧‍👦".repeat(100), "word ".repeat(300), "e\u0301".repeat(500), `${"x".repeat(400)} end`]) {
      const lines = chunker(text, 350);
      expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
      for (const line of lines) {
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(350);
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toMatch(/^\u0301|\u200d$/);
      }
    }
    expect(chunker("👩‍👩‍👧‍👦", 8).join("")).toBe("👩‍👩‍👧‍👦");
  });

  test("a file goes as a link, or not at all", async () => {
    const { outbound } = createIrcPlugin();
    const context = { cfg: { channels: { irc: SERVER } }, to: "#x", text: "look" };
    await expect(outbound!.sendMedia!({ ...context, mediaUrl: "/etc/passwd" })).rejects.toMatchObject({
      delivery: { state: "failed", filesNotSent: [expect.stringContaining("passwd: IRC carries text only")] },
    });
    await expect(outbound!.sendMedia!({ ...context, mediaUrl: "https://example.org/x.png" })).rejects.toMatchObject({ delivery: { state: "retry" } });
  });
});

describe("setup", () => {
  const { setup, config, onboarding } = createIrcPlugin({ times: { ...TIMES, connectMs: 50 } });

  test("an account is added from a server and a nick", () => {
    const input = { url: "irc://irc.example.org:6668", userId: "claw", password: "pw", groupChannels: ["#a"] };
    expect(setup!.validateInput!({ cfg: {}, accountId: "default", input })).toBeNull();
    const cfg = setup!.applyAccountConfig({ cfg: {}, accountId: "default", input });
    expect(cfg.channels?.["irc"]).toEqual({ enabled: true, host: "irc.example.org", port: 6668, tls: false, nick: "claw", password: "pw", channels: ["#a"] });
    const two = setup!.applyAccountConfig({ cfg, accountId: "Two", input: { userId: "claw2" } });
    expect(config.resolveAccount(two, "two")).toMatchObject({ host: "irc.example.org", nick: "claw2", enabled: true });
  });

  test("what is missing is named", () => {
    expect(setup!.validateInput!({ cfg: {}, accountId: "default", input: { userId: "claw" } })).toContain("no server");
    expect(setup!.validateInput!({ cfg: {}, accountId: "default", input: { url: "irc.example.org" } })).toContain("no nick");
    expect(setup!.validateInput!({ cfg: {}, accountId: "default", input: { url: "http://x y", userId: "claw" } })).toContain("is not an IRC server");
  });

  test("a person is asked", async () => {
    const notes: string[] = [];
    const answers: Record<string, string> = { Server: "irc.example.org", Nick: "claw", "Channels to join": "#a, #b" };
    const prompter = {
      text: async ({ message, validate }: { message: string; validate?(value: string): string | undefined }) => {
        expect(validate?.(answers[message]!)).toBeUndefined();
        return answers[message]!;
      },
      confirm: async () => true,
      note: async (text: string) => void notes.push(text),
    };
    const { cfg } = await onboarding!.configure({ cfg: {}, prompter, accountOverrides: {}, shouldPromptAccountIds: false } as never);
    expect(cfg.channels?.["irc"]).toEqual({ enabled: true, host: "irc.example.org", tls: true, nick: "claw", channels: ["#a", "#b"] });
    expect(notes.join("\n")).toMatch(/^The check failed: irc\.example\.org:6697: /);
    expect(await onboarding!.getStatus({ cfg, accountOverrides: {} })).toMatchObject({ configured: true });
    expect(await onboarding!.getStatus({ cfg: {}, accountOverrides: {} })).toMatchObject({ configured: false });
  });

  test("accounts are switched off and taken out", () => {
    const cfg = { channels: { irc: { ...SERVER, accounts: { two: { nick: "two" } } } } };
    expect(config.resolveAccount(config.setAccountEnabled!({ cfg, accountId: "two", enabled: false }), "two").enabled).toBe(false);
    expect(config.listAccountIds(config.deleteAccount!({ cfg, accountId: "two" }))).toEqual(["default"]);
  });
});

test("lists what it knows", async () => {
  const { directory } = createIrcPlugin();
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  const cfg = { channels: { irc: { ...SERVER, channels: ["#a"], groups: { "#b": {}, "*": {} }, allowFrom: ["ada@h"], groupAllowFrom: ["*", "account:eve"] } } };
  expect(await directory!.self!({ cfg, runtime })).toMatchObject({ id: "claw" });
  expect((await directory!.listGroups!({ cfg, runtime })).map(({ id }) => id)).toEqual(["#a", "#b"]);
  expect((await directory!.listPeers!({ cfg, runtime })).map(({ id }) => id)).toEqual(["ada@h", "account:eve"]);
  expect(await directory!.listGroupsLive!({ cfg, runtime })).toEqual([]);
});

test("resolves channels and identities, and no bare nick", async () => {
  const { resolver } = createIrcPlugin();
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  const cfg = { channels: { irc: SERVER } };
  const idsOf = async (kind: "user" | "group", ...inputs: string[]) =>
    (await resolver!.resolveTargets({ cfg, runtime, kind, inputs })).map(({ resolved, id }) => (resolved ? id : undefined));
  expect(await idsOf("group", "#Help", "help", "irc:channel:Help", "two words")).toEqual(["#help", "#help", "#help", undefined]);
  expect(await idsOf("user", "account:eve", "ada!a@host", "ada")).toEqual(["account:eve", "ada!a@host", undefined]);
});

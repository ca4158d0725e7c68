import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  type AccountReader,
  type ChannelAccount,
  type ChannelOnboardingSpec,
  type ChannelProbe,
  createAccountReader,
  createChannelParts,
  createOnboarding,
  type CredentialSpec,
  defineChannel,
  hopeless,
  notSent,
  perAccount,
  readSecret,
  runProbe,
  textOf,
} from "../../../src/plugins/sdk/paths/channel-kit.ts";

interface PagerAccount extends ChannelAccount {
  readonly region: string;
}

const TOKEN: CredentialSpec = {
  key: "token",
  fileKey: "tokenFile",
  env: "PAGER_TOKEN",
  inputs: ["token", "botToken"],
  label: "Token",
  steps: ["Open the page.", "Copy the token."],
  check: (value) => (value.startsWith("pg-") ? undefined : "it has to start with pg-"),
};

function readerOf(
  credential: Partial<CredentialSpec> = {},
  env: Record<string, string> = {},
  more: readonly CredentialSpec[] = [],
): AccountReader<PagerAccount> {
  return createAccountReader<PagerAccount>({
    channel: "pager",
    credentials: [{ ...TOKEN, ...credential }, ...more],
    env: (name) => env[name],
    read: (account) => ({ ...account, region: textOf(account.config["region"]) ?? "eu" }),
  });
}
const cfgOf = (pager: object) => ({ channels: { pager } }) as never;

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "kit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "secret"), text);
  return join(folder, "secret");
}

test("an account has its channel's keys under its own, and what is missing is named with all ways to give it", () => {
  const accounts = readerOf();
  const cfg = cfgOf({
    token: "pg-1",
    region: "us",
    dmPolicy: "open",
    accounts: { Work: { region: "asia", allowFrom: [" a ", 5, ""] }, off: { enabled: false } },
  });
  expect(accounts.listAccountIds(cfg)).toEqual(["off", "work"]);
  expect(accounts.read(cfg, "work")).toMatchObject({
    accountId: "work",
    region: "asia",
    dmPolicy: "open",
    groupPolicy: "allowlist",
    allowFrom: ["a", "5"],
    credentials: { token: "pg-1" },
    sources: { token: "config" },
    problems: [],
  });
  expect(accounts.read(cfg, "off").enabled).toBe(false);
  expect(accounts.read(cfg, "work")).toBe(accounts.read(cfg, "WORK"));
  expect(accounts.read(cfgOf({})).problems).toEqual(["no token: set channels.pager.token, tokenFile or PAGER_TOKEN"]);
  expect(accounts.read(cfgOf({ token: "x" })).problems).toEqual(["channels.pager.token: it has to start with pg-"]);
});

test("a credential is taken from the account, its file, the channel, then the environment, which is for the default account", () => {
  const file = fileWith(" pg-file\n");
  const env = { PAGER_TOKEN: "pg-env" };
  const valueOf = (pager: object, id = "default", credential: Partial<CredentialSpec> = {}) => {
    const { credentials, sources } = readerOf(credential, env).read(cfgOf(pager), id);
    return [credentials["token"], sources["token"]];
  };
  expect(valueOf({})).toEqual(["pg-env", "env"]);
  expect(valueOf({ token: "pg-1" })).toEqual(["pg-1", "config"]);
  expect(valueOf({ tokenFile: file })).toEqual(["pg-file", "file"]);
  expect(valueOf({ token: "pg-1", tokenFile: file })).toEqual(["pg-1", "config"]);
  expect(valueOf({ token: "pg-1", tokenFile: file }, "default", { fileWins: true })).toEqual(["pg-file", "file"]);
  expect(valueOf({ token: "pg-1" }, "default", { envWins: true })).toEqual(["pg-env", "env"]);
  // An account's own file stands over what its channel says.
  expect(valueOf({ token: "pg-1", accounts: { a: { tokenFile: file } } }, "a")).toEqual(["pg-file", "file"]);
  expect(valueOf({ token: "pg-1", accounts: { a: {} } }, "a")).toEqual(["pg-1", "config"]);
  expect(valueOf({ token: "pg-1", accounts: { a: {} } }, "a", { isOwn: true })).toEqual(["", "none"]);
  expect(valueOf({ token: "pg-1", accounts: { default: {} } }, "default", { isOwn: true })).toEqual(["pg-1", "config"]);
});

test("a file that cannot be read is a problem with its name, also where the credential may be missing, and is read again later", () => {
  const accounts = readerOf({ isOptional: true }, { PAGER_TOKEN: "pg-env" });
  const path = `${fileWith("x")}-later`;
  const cfg = cfgOf({ tokenFile: path });
  expect(accounts.read(cfg)).toMatchObject({ credentials: { token: "" }, problems: [expect.stringMatching(/channels\.pager\.tokenFile.*-later/)] });
  writeFileSync(path, "pg-now");
  expect(accounts.read(cfg)).toMatchObject({ credentials: { token: "pg-now" }, problems: [] });
  writeFileSync(path, "pg-then");
  expect(accounts.read(cfg).credentials["token"]).toBe("pg-then");
  expect(readSecret({ key: "a" }, "channels.pager.inner", { key: "key", fileKey: "keyFile" })).toEqual({ value: "a", source: "config" });
  expect(readSecret({}, "channels.pager.inner", { key: "key", fileKey: "keyFile" })).toBeUndefined();
});

test("one client for each account, made again when its settings change, and closed then", () => {
  const log: string[] = [];
  const clients = perAccount<PagerAccount, string>({
    from: ({ credentials }) => credentials,
    make: ({ accountId, credentials }) => `${accountId} ${credentials["token"]}`,
    close: (made) => log.push(made),
  });
  const accounts = readerOf();
  const first = accounts.read(cfgOf({ token: "pg-1" }));
  expect([clients.of(first), clients.of({ ...first })]).toEqual(["default pg-1", "default pg-1"]);
  expect(clients.of(accounts.read(cfgOf({ token: "pg-2" })))).toBe("default pg-2");
  clients.close();
  expect(log).toEqual(["default pg-1", "default pg-2"]);
});

const HOST: CredentialSpec = {
  key: "host",
  inputs: ["url"],
  label: "Server",
  isPublic: true,
  checkEntry: (value) => (/^[\w.]+(?::\d+)?$/.test(value) ? undefined : `"${value}" is no server`),
  keys: (value) => ({ host: value.split(":")[0], ...(value.includes(":") ? { port: Number(value.split(":")[1]) } : {}) }),
};

function specOf(more: Partial<ChannelOnboardingSpec<PagerAccount, ChannelProbe>> = {}): ChannelOnboardingSpec<PagerAccount, ChannelProbe> {
  return {
    channel: "pager",
    label: "Pager",
    credentials: [TOKEN, HOST],
    accounts: readerOf({}, {}, [HOST]),
    idLabel: "pagerNumber",
    idExample: "123",
    normalizeEntry: (entry) => entry.replace(/^pager:/, "").toLowerCase(),
    isName: (entry) => entry !== "*" && !/^\d+$/.test(entry),
    ...more,
  };
}

test("channels add writes credentials in the form that they are read in, and refuses what is no such value", () => {
  const { setup, config } = createChannelParts(specOf());
  const input = { token: "pg-1", url: "pager.example:99" };
  expect(setup.validateInput!({ cfg: {}, accountId: "default", input })).toBeNull();
  const cfg = setup.applyAccountConfig({ cfg: {}, accountId: "default", input: { ...input, name: "Main" } });
  expect(cfg.channels?.["pager"]).toEqual({ enabled: true, name: "Main", token: "pg-1", host: "pager.example", port: 99 });
  const two = setup.applyAccountConfig({ cfg, accountId: "Second Pager", input: { tokenFile: "/run/token" } });
  expect(two.channels?.["pager"]).toMatchObject({ accounts: { "second-pager": { enabled: true, tokenFile: "/run/token" } } });
  const refusal = (given: object, accountId = "default") => setup.validateInput!({ cfg: {}, accountId, input: given });
  expect(refusal({ url: "pager.example" })).toBe("Pager: no token: set channels.pager.token, tokenFile or PAGER_TOKEN (--token, --url)");
  expect(refusal({ token: "x", url: "pager.example" })).toContain("it has to start with pg-");
  expect(refusal({ token: "pg-1", url: "no server!" })).toContain('"no server!" is no server');
  expect(refusal({ useEnv: true }, "work")).toContain("for the default account only");
  expect(config.deleteAccount!({ cfg, accountId: "default" })).toEqual({});
  const off = config.setAccountEnabled!({ cfg: two, accountId: "second-pager", enabled: false });
  expect(config.resolveAccount(off, "second-pager").enabled).toBe(false);
  expect(config.formatAllowFrom!({ cfg: {}, allowFrom: ["pager:A", 5, ""] })).toEqual(["a", "5"]);
});

test("names on allow lists and open policies are warned of, unless names are trusted", async () => {
  const { security, status } = createChannelParts(specOf({ groupWord: "space", nameAdvice: "Use numbers", nameReason: "anybody can take a name" }));
  const accounts = readerOf();
  const look = async (pager: object) => {
    const account = accounts.read(cfgOf({ token: "pg-1", ...pager }));
    const snapshot = await status.buildAccountSnapshot!({ account, cfg: {} });
    return {
      warnings: await security.collectWarnings!({ account, cfg: {} }),
      issues: status.collectStatusIssues!([snapshot]).map(({ kind, message, fix }) => [kind, message, fix]),
    };
  };
  expect(await look({ allowFrom: ["*", 5] })).toEqual({ warnings: [], issues: [] });
  const found = await look({ allowFrom: ["ada"], groupPolicy: "open", groups: { "1": { allowFrom: ["Bob", 7] } } });
  expect(found.warnings).toEqual([
    "Pager allow lists: anybody can take a name, so these entries match nobody: ada, Bob. Use numbers.",
    'channels.pager.groupPolicy is "open": everybody may use the bot in the spaces of channels.pager.groups. Set it to "allowlist" and list people in groupAllowFrom.',
  ]);
  expect(found.issues).toEqual([["config", "these entries of allow lists are names and match nobody: ada, Bob", "Use numbers"]]);
  expect(await look({ allowFrom: ["ada"], dangerouslyAllowNameMatching: true })).toEqual({ warnings: [], issues: [] });
});

test("status says where credentials come from and what a probe found", async () => {
  const probe = (_account: PagerAccount, timeoutMs: number) =>
    runProbe(async () => {
      if (timeoutMs < 10) throw Object.assign(new Error("no such token"), { status: 401 });
      return { bot: "claw" };
    });
  const { status } = createChannelParts(
    specOf({ probe, summarize: ({ region }) => ({ region }), describe: () => ({ baseUrl: "pager://x", audit: { own: 1 } }) }),
  );
  const account = readerOf().read(cfgOf({ tokenFile: fileWith("pg-1"), allowFrom: ["ada"] }));
  expect(await status.probeAccount!({ account, timeoutMs: 50, cfg: {} })).toMatchObject({ ok: true, error: null, status: 200, bot: "claw" });
  const failed = await status.probeAccount!({ account, timeoutMs: 5, cfg: {} });
  expect(failed).toMatchObject({ ok: false, error: "no such token", status: 401, elapsedMs: expect.any(Number) as number });
  const snapshot = await status.buildAccountSnapshot!({
    account,
    cfg: {},
    probe: failed,
    audit: { checked: true },
    runtime: { accountId: "default", lastError: "over" },
  });
  expect(snapshot).toMatchObject({ tokenSource: "tokenFile", credentialSource: "tokenFile", configured: true, baseUrl: "pager://x" });
  expect(snapshot.audit).toEqual({ checked: true, own: 1, names: ["ada"] });
  expect(status.collectStatusIssues!([snapshot]).map(({ kind, fix }) => [kind, fix])).toEqual([
    ["config", "Use ids"],
    ["auth", "Copy the token."],
    ["runtime", undefined],
  ]);
  expect(await status.buildChannelSummary!({ account, snapshot, cfg: {}, defaultAccountId: "default" })).toMatchObject({
    region: "eu",
    configured: true,
  });
});

test("tools and mentions of a group go by its own entry, then that of all, and by ids", () => {
  const { groups } = createChannelParts(specOf({ requireMention: true }));
  const entry = { requireMention: false, toolsBySender: { "5": { allow: ["a"] }, ada: { allow: ["b"] } }, tools: { deny: ["c"] } };
  const cfg = cfgOf({ token: "pg-1", groups: { Lobby: entry, "*": { tools: { deny: ["d"] } } } });
  expect([groups.resolveRequireMention!({ cfg, groupId: "LOBBY" }), groups.resolveRequireMention!({ cfg, groupId: "other" })]).toEqual([false, true]);
  const tools = (groupId: string, senderId: string) => groups.resolveToolPolicy!({ cfg, groupId, senderId, senderName: "ada" });
  expect([tools("lobby", "pager:5"), tools("lobby", "6"), tools("other", "5")]).toEqual([{ allow: ["a"] }, { deny: ["c"] }, { deny: ["d"] }]);
});

/** A person who answers in order, and what they were shown. */
function prompterOf(...answers: readonly (string | boolean)[]) {
  const shown: string[] = [];
  const left = [...answers];
  const next = (message: string): string | boolean => {
    shown.push(message);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`nobody answers ${message}`);
    return answer;
  };
  return {
    shown,
    prompter: {
      note: async (text: string, title?: string) => void shown.push(`[${title}] ${text}`),
      confirm: async ({ message }: { message: string }) => next(message),
      async text({ message, validate, initialValue }: { message: string; validate?(value: string): string | undefined; initialValue?: string }) {
        for (;;) {
          const value = String(next(`${message}${initialValue === undefined ? "" : ` (${initialValue})`}`));
          const wrong = validate?.(value);
          if (wrong === undefined) return value;
          shown.push(`! ${wrong}`);
        }
      },
    } as never,
  };
}
const ASKED = { accountOverrides: {}, shouldPromptAccountIds: false, forceAllowFrom: false, runtime: {} as never };

test("onboarding asks for credentials, checks them, and says whether they work", async () => {
  const onboarding = createOnboarding(
    specOf({
      intro: ["Pagers are small."],
      probe: async ({ credentials }) => (credentials["token"] === "pg-good" ? { ok: true } : { ok: false, error: "no such token" }),
      who: () => "@claw",
      ask: async (prompter, account, entered) => ({ port: Number(entered["port"] ?? 1) + 1, tls: await prompter.confirm({ message: account.region }) }),
    }),
  );
  expect(await onboarding.getStatus({ cfg: {}, accountOverrides: {} })).toMatchObject({ configured: false, statusLines: ["Pager: needs token and server"] });
  const { shown, prompter } = prompterOf("", "nonsense", "pg-good", "no server!", "pager.example:99", true);
  const { cfg } = await onboarding.configure({ cfg: {}, prompter, ...ASKED });
  expect(cfg.channels?.["pager"]).toEqual({ enabled: true, token: "pg-good", host: "pager.example", port: 100, tls: true });
  expect(shown).toEqual([
    "[Pager] Pagers are small.",
    "[Pager: token] 1. Open the page.\n2. Copy the token.",
    "Token",
    "! Required",
    "Token",
    "! it has to start with pg-",
    "Token",
    "Server",
    '! "no server!" is no server',
    "Server",
    "eu",
    "[Pager] It works: connected as @claw.",
  ]);
  expect(await onboarding.getStatus({ cfg, accountOverrides: {} })).toMatchObject({ configured: true });
  // What is there is kept or shown, never asked for blindly; what does not work is kept and said.
  const again = prompterOf(false, "pg-bad", "pager.example", false);
  const changed = await onboarding.configure({ cfg, prompter: again.prompter, ...ASKED });
  expect(changed.cfg.channels?.["pager"]).toMatchObject({ token: "pg-bad", tls: false });
  expect(again.shown.filter((line) => !line.startsWith("["))).toEqual(["A token is already set. Keep it?", "Token", "Server (pager.example)", "eu"]);
  expect(again.shown.at(-1)).toMatch(/^\[Pager\] The check failed: no such token\.\n.*openclaw channels status --probe$/);
});

test("what is asked first decides which credentials are asked for and which steps are shown", async () => {
  const isWired = (config: object) => "wired" in config && config.wired === true;
  const credentials: CredentialSpec[] = [
    { key: "token", label: "Token", isUsed: (config) => !isWired(config) },
    { key: "cable", label: "Cable", isUsed: isWired, isOptional: (config) => !isWired(config) },
  ];
  const accounts = createAccountReader<PagerAccount>({
    channel: "pager",
    credentials,
    read: (account) => ({ ...account, region: "eu" }),
    env: () => undefined,
  });
  const onboarding = createOnboarding(
    specOf({
      credentials,
      accounts,
      askFirst: async (prompter) => ({ keys: { wired: await prompter.confirm({ message: "Wired?" }), way: "cable" }, note: ["Plug it in."] }),
    }),
  );
  const { shown, prompter } = prompterOf(true, "", "c-1");
  const steps = [
    { text: "Buy a pager." },
    { text: "Buy a cable.", when: { path: "way", is: "cable" } },
    { text: "Charge it.", when: { path: "way", is: "air" } },
  ];
  const { cfg } = await onboarding.configure({ cfg: {}, prompter, ...ASKED, steps });
  expect(cfg.channels?.["pager"]).toEqual({ enabled: true, wired: true, way: "cable", cable: "c-1" });
  expect(shown).toEqual(["Wired?", "[Set up Pager] 1. Buy a pager.\n2. Buy a cable.", "[Pager] Plug it in.", "Cable", "! Required", "Cable"]);
});

test("who may write is asked for by id; an empty answer changes nothing", async () => {
  const { dmPolicy } = createOnboarding(specOf());
  const cfg = cfgOf({ token: "pg-1", allowFrom: ["5"] });
  const { shown, prompter } = prompterOf("ada", "5, pager:7");
  const next = await dmPolicy!.promptAllowFrom!({ cfg, prompter });
  expect(next.channels?.["pager"]).toMatchObject({ allowFrom: ["5", "7"] });
  expect(shown).toEqual([expect.stringContaining("One looks like 123."), "Pager ids", "! Use ids, not names", "Pager ids"]);
  expect(await dmPolicy!.promptAllowFrom!({ cfg, prompter: prompterOf("").prompter })).toBe(cfg);
  expect(dmPolicy!.setPolicy(cfg, "open").channels?.["pager"]).toMatchObject({ dmPolicy: "open", allowFrom: ["5", "*"] });
});

test("a channel from one description starts, sends, and does not start with problems", async () => {
  const runs: string[] = [];
  const channel = defineChannel({
    id: "pager",
    label: "Pager",
    blurb: "Small.",
    credentials: [TOKEN],
    connection: { waiting: { now: () => 0, sleep: async () => {}, random: () => 0.5 } },
    async connect(run, account) {
      runs.push(account.credentials["token"]!);
      if (runs.length === 1) throw notSent("connect", "not yet");
      run.up();
      throw hopeless("over");
    },
    send: async ({ accountId }, { to, text }) => `${accountId}:${to}:${text}`,
    more: { capabilities: { chatTypes: ["direct", "group"] } },
  });
  expect(channel.capabilities.chatTypes).toEqual(["direct", "group"]);
  const start = (pager: object) =>
    channel.gateway!.startAccount!({
      cfg: cfgOf(pager),
      accountId: "default",
      account: channel.config.resolveAccount(cfgOf(pager)),
      abortSignal: new AbortController().signal,
      setStatus: () => {},
      inbound: { accept: async () => ({ outcome: "accepted", duplicate: false }) },
    } as never);
  await expect(start({})).rejects.toMatchObject({
    permanent: true,
    message: expect.stringContaining('Pager account "default" cannot be started: no token') as string,
  });
  await expect(start({ token: "pg-1" })).rejects.toThrow("over");
  expect(runs).toEqual(["pg-1", "pg-1"]);
  expect(await channel.outbound!.sendText!({ cfg: cfgOf({ token: "pg-1" }), to: "ada", text: "hi" })).toEqual({
    channel: "pager",
    messageId: "default:ada:hi",
  });
  expect(channel.pairing!.normalizeAllowEntry!(" pager:5 ")).toBe("5");
});

import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dispatch } from "../../dispatch.ts";
import { showFailure } from "../../failure.ts";
import type { Io } from "../../io.ts";
import { directory, channels } from "../groups.ts";

/** A channel as a third-party plugin registers it. */
const PLUGIN = `
const section = (cfg) => cfg.channels?.paper ?? {};
const withAccount = (cfg, id, change) => {
  const { accounts = {}, ...rest } = section(cfg);
  const next = id === "default" ? { ...rest, ...change, accounts } : { ...rest, accounts: { ...accounts, [id]: { ...accounts[id], ...change } } };
  return { ...cfg, channels: { ...cfg.channels, paper: next } };
};
const plugin = {
  id: "paper",
  meta: { id: "paper", label: "Paper", selectionLabel: "Paper", docsPath: "/channels/paper", blurb: "" },
  capabilities: { chatTypes: ["direct", "group"], reactions: true, media: true },
  config: {
    listAccountIds: (cfg) => [...(section(cfg).token ? ["default"] : []), ...Object.keys(section(cfg).accounts ?? {})],
    resolveAccount: (cfg, id) => ({ ...section(cfg), ...section(cfg).accounts?.[id] }),
    isConfigured: ({ token }) => Boolean(token),
    describeAccount: ({ name, token }, cfg) => ({ accountId: "x", name, dmPolicy: "pairing", token }),
    setAccountEnabled: ({ cfg, accountId, enabled }) => withAccount(cfg, accountId, { enabled }),
    deleteAccount: ({ cfg, accountId }) => {
      const { accounts = {}, token, ...rest } = section(cfg);
      const { [accountId]: _gone, ...others } = accounts;
      return { ...cfg, channels: { ...cfg.channels, paper: accountId === "default" ? { ...rest, accounts } : { ...rest, token, accounts: others } } };
    },
  },
  setup: {
    validateInput: ({ input }) => (input.token ? null : "expected --token"),
    applyAccountConfig: ({ cfg, accountId, input }) => withAccount(cfg, accountId, { token: input.token, ...(input.name ? { name: input.name } : {}) }),
  },
  status: {
    probeAccount: async ({ account }) => (account.token === "good" ? { ok: true } : { ok: false, error: "401 from the platform" }),
    collectStatusIssues: (accounts) => accounts.filter(({ probe }) => probe?.ok === false).map(({ accountId }) => ({ channel: "paper", accountId, kind: "auth", message: "its token is refused", fix: "make a new one" })),
  },
  security: { collectWarnings: ({ accountId }) => (accountId === "work" ? ["- everybody may write"] : []) },
  directory: {
    self: async () => ({ kind: "user", id: "7", name: "Claw" }),
    listPeers: async ({ query }) => [{ kind: "user", id: "1", name: "Ada" }, { kind: "user", id: "2" }].filter(({ name = "" }) => name.includes(query ?? "")),
    listGroups: async () => [{ kind: "group", id: "g1", name: "Den" }],
    listGroupsLive: async () => { throw new Error("no connection"); },
    listGroupMembers: async ({ groupId }) => [{ kind: "user", id: "1", name: "Ada of " + groupId }],
  },
  actions: { listActions: () => ["send", "react"] },
  messaging: { normalizeTarget: (raw) => "paper:" + raw.toLowerCase() },
  resolver: { resolveTargets: async ({ inputs, kind }) => inputs.map((input) => (input.includes("Ada") ? { input, resolved: true, id: kind + "-7", name: "Ada L." } : { input, resolved: false, note: "no such name" })) },
  gateway: { startAccount: ({ abortSignal }) => new Promise((resolve) => abortSignal.addEventListener("abort", resolve)), logoutAccount: async () => ({ cleared: true, loggedOut: true }) },
  auth: { login: async ({ accountId, runtime }) => runtime.log("signing in", accountId ?? "default") },
};
const bare = { id: "bare", meta: { id: "bare", label: "Bare", selectionLabel: "Bare", docsPath: "", blurb: "" }, capabilities: { chatTypes: ["direct"] },
  configSchema: { schema: { type: "object", properties: { key: { type: "string" } } } },
  config: { listAccountIds: () => ["default"], resolveAccount: () => ({}) } };
export default { id: "paper-plugin", register(api) { api.registerChannel({ plugin }); api.registerChannel({ plugin: bare }); } };
`;

/** A home of its own, with the plugin in it; the commands see nothing else. */
function makePlace(config = "{}", { isBundled = false } = {}) {
  const home = mkdtempSync(join(tmpdir(), "channels-cli-"));
  const state = join(home, "state");
  const bundled = join(home, "bundled");
  const folder = isBundled ? join(bundled, "paper-plugin") : join(state, "extensions", "paper-plugin");
  mkdirSync(folder, { recursive: true });
  mkdirSync(bundled, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "paper-plugin", channels: ["paper", "bare"], configSchema: {} }));
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "paper-plugin", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }),
  );
  writeFileSync(join(folder, "index.js"), PLUGIN);
  const path = join(home, "openclaw.json");
  writeFileSync(path, config);
  async function run(...args: string[]) {
    const written = { out: "", err: "" };
    const io: Io = {
      env: { HOME: home, OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: path, OPENCLAW_BUNDLED_PLUGINS_DIR: bundled },
      cwd: home,
      version: "9.9.9",
      out: (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      program: "openclaw",
      runnable: (text: string) => text,
      color: false,
      interactive: false,
      columns: 160,
      now: () => Date.now(),
      confirm: () => Promise.resolve(false),
      signal: () => new AbortController().signal,
    };
    const entries = [
      { name: "channels", summary: "", load: () => Promise.resolve(channels) },
      { name: "directory", summary: "", load: () => Promise.resolve(directory) },
    ];
    const code = await dispatch(entries, args[0] === "directory" ? args : ["channels", ...args], io).catch((error: unknown) =>
      showFailure(error, io, args.includes("--json")),
    );
    return { code: code ?? 0, ...written };
  }
  return { run, path, state, file: () => readFileSync(path, "utf8") };
}

const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;
const TWO = `{ channels: { paper: { token: "good", accounts: { work: { token: "bad", name: "Work" } } } } }`;

describe("add", () => {
  test("writes what the plugin makes of the flags, and keeps what stood there", async () => {
    const { run, file } = makePlace(`{\n  // ours\n  channels: { paper: { dmPolicy: "allowlist" } },\n}\n`);
    const { code, out, err } = await run("add", "--channel", "paper", "--token", "good", "--name", "Home");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Set up paper account default");
    expect(file()).toContain("// ours");
    expect(file()).toMatch(/dmPolicy: "allowlist"/);
    expect(file()).toMatch(/"?token"?: "good"/);
    const second = await run("add", "--channel", "Paper", "--account", "work", "--token", "bad", "--json");
    expect(json(second.out)).toMatchObject({ ok: true, channel: "paper", accountId: "work" });
    expect(json((await run("list", "--no-usage", "--json")).out)).toMatchObject({ chat: { paper: ["default", "work"] }, auth: [] });
  });

  test.each([
    [["--channel", "paper"], "paper: expected --token"],
    [["--channel", "bare", "--token", "x"], "configure it with: openclaw config set channels.bare.<setting> <value>; its settings are key"],
    [["--channel", "papr"], "did you mean paper?"],
    [["--channel", "paper", "--token", "x", "--account", "a.b"], "letters, digits, - and _"],
    [[], "expected --channel"],
  ])("%j is refused with what to do", async (flags, said) => {
    const { run, file } = makePlace();
    const { code, err } = await run("add", ...flags);
    expect(code).toBe(1);
    expect(err).toContain(said);
    expect(file()).toBe("{}");
  });
});

test("a channel that came with the gateway is off until it is set up, and on then", async () => {
  const { run, file } = makePlace("{}", { isBundled: true });
  expect((await run("capabilities", "--channel", "paper")).err).toContain("openclaw channels add --channel paper");
  expect((await run("remove", "--channel", "paper")).err).toContain("is disabled");
  expect(await run("add", "--channel", "paper", "--token", "good")).toMatchObject({ code: 0, err: "" });
  expect((await run("status")).out).toMatch(/Paper +default/);
  expect(await run("remove", "--channel", "paper")).toMatchObject({ code: 0 });
  expect(await run("remove", "--channel", "paper", "--delete")).toMatchObject({ code: 0 });
  expect(file()).not.toContain("good");
});

describe("remove", () => {
  test("turns an account off, or deletes it", async () => {
    const { run, file } = makePlace(TWO);
    expect((await run("remove", "--channel", "paper", "--account", "work")).out).toContain("Disabled paper account work");
    expect(file()).toMatch(/work: \{.*enabled: false/s);
    expect((await run("remove", "--channel", "paper", "--account", "work", "--delete")).out).toContain("Deleted paper account work");
    expect(file()).not.toContain("work");
    expect(file()).toContain(`token: "good"`);
  });

  test("says how to do it by hand where the plugin cannot, and which accounts there are", async () => {
    const { run } = makePlace(TWO);
    expect((await run("remove", "--channel", "bare")).err).toContain("openclaw config set channels.bare.enabled false");
    expect((await run("remove", "--channel", "bare", "--delete")).err).toContain("openclaw config unset channels.bare");
    expect((await run("remove", "--channel", "paper", "--account", "nobody")).err).toContain("it has default, work");
  });
});

describe("status", () => {
  test("without a gateway it shows what the configuration says, and exits 0", async () => {
    const { run } = makePlace(TWO);
    const { code, out } = await run("status");
    expect(code).toBe(0);
    expect(out).toContain("Showing the configuration instead");
    expect(out).toMatch(/Paper +default +not running +dm pairing/);
    expect(out).toMatch(/work \(Work\) +not running/);
    expect(out).not.toContain("good");
  });

  test("a gateway that cannot even be named is no reason to show nothing", async () => {
    const { run } = makePlace(`{ gateway: { mode: "remote" }, channels: { paper: { token: "good" } } }`);
    expect(await run("status")).toMatchObject({ code: 0, out: expect.stringMatching(/gateway\.remote\.url.*\nChannel.*\nPaper/s) });
  });

  test("--probe asks the platforms and reports each problem with its fix", async () => {
    const { run } = makePlace(TWO);
    const { out } = await run("status", "--probe");
    expect(out).toMatch(/default .*answers/);
    expect(out).toMatch(/work .*probe failed: 401 from the platform/);
    expect(out).toContain("! Paper work: its token is refused (auth)\n  make a new one");
    const { out: data } = await run("status", "--probe", "--json");
    expect(json(data)).toMatchObject({ gateway: { reachable: false }, channelAccounts: { paper: [{ probe: { ok: true } }, { probe: { ok: false } }] } });
    expect(data).not.toMatch(/"token":/);
  });

  test("a channel whose plugin is off is listed with the reason", async () => {
    const { run } = makePlace(`{ plugins: { entries: { "paper-plugin": { enabled: false } } }, channels: { paper: { token: "good" } } }`);
    expect((await run("list", "--no-usage")).out).toMatch(/paper +- +off +disabled in config/);
    expect((await run("capabilities", "--channel", "paper")).err).toContain("openclaw plugins enable paper-plugin");
  });
});

describe("capabilities", () => {
  test("what each account's channel can do, and whether it answers", async () => {
    const { run } = makePlace(TWO);
    const { code, out } = await run("capabilities", "--channel", "paper", "--target", "ADA");
    expect(code).toBe(0);
    expect(out).toMatch(/Paper default/);
    expect(out).toMatch(/Supports +direct, group; reactions, media/);
    expect(out).toMatch(/Actions +send, broadcast, react/);
    expect(out).toMatch(/Target +ADA → paper:ada/);
    const { out: data } = await run("capabilities", "--channel", "paper", "--account", "work", "--json");
    expect(json(data)).toMatchObject({
      channels: [{ channel: "paper", accountId: "work", accountName: "Work", support: { media: true }, probe: { ok: false } }],
    });
  });

  test("with no channel configured it fails and says what to do", async () => {
    const { run } = makePlace(`{ plugins: { enabled: false } }`);
    expect(await run("capabilities")).toMatchObject({ code: 1, err: expect.stringContaining("openclaw channels add") });
  });
});

test("resolve looks names up, and guesses what they name", async () => {
  const { run } = makePlace(TWO);
  const { code, out } = await run("resolve", "Ada", "#Ada", "Bob", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual([
    { input: "Ada", resolved: true, id: "user-7", name: "Ada L." },
    { input: "#Ada", resolved: true, id: "group-7", name: "Ada L." },
    { input: "Bob", resolved: false, note: "no such name" },
  ]);
  const shown = await run("resolve", "Ada", "Bob", "--kind", "group", "--channel", "paper");
  expect(shown.code).toBe(1);
  expect(shown.out).toMatch(/Ada +group-7 +Ada L\./);
  expect(shown.out).toMatch(/Bob +not found/);
  expect((await run("resolve", "Ada", "--channel", "bare")).err).toContain("cannot look up names");
});

test("login and logout are the plugin's own where no gateway runs", async () => {
  const { run } = makePlace(TWO);
  expect(await run("login", "--channel", "paper", "--account", "work")).toMatchObject({ code: 0, out: "signing in work\n" });
  expect(await run("logout", "--channel", "paper", "--account", "work")).toMatchObject({ code: 0, out: "Signed out of paper account work\n" });
  expect((await run("login", "--channel", "bare")).err).toContain("bare has no login");
  expect((await run("logout", "--channel", "bare")).err).toContain("does not support logout");
  expect((await run("login")).err).toContain(`there is no channel "whatsapp"`);
});

test("logs shows what channels logged, of one or of all", async () => {
  const { run, state, path } = makePlace();
  const log = join(state, "openclaw.log");
  writeFileSync(path, JSON.stringify({ logging: { file: log } }));
  const line = (subsystem: string, message: string, more = {}) =>
    JSON.stringify({ time: "2026-01-02T03:04:05.000Z", level: "info", subsystem, message, ...more });
  writeFileSync(
    log,
    `${[line("store", "opened"), line("channels/paper", "up"), line("channels/irc", "joined"), line("conversation", "sent", { channel: "paper" }), "noise"].join("\n")}\n`,
  );
  expect(existsSync(log)).toBe(true);
  const messages = async (...args: string[]) =>
    (json((await run("logs", "--json", ...args)).out)["lines"] as { message: string }[]).map(({ message }) => message);
  expect(await messages()).toEqual(["up", "joined", "sent"]);
  expect(await messages("--channel", "paper")).toEqual(["up", "sent"]);
  expect(await messages("--lines", "1")).toEqual(["sent"]);
  expect((await run("logs", "--channel", "paper")).out).toMatch(/up\n.*sent/s);
  expect((await run("logs", "--lines", "none")).code).toBe(1);
});

test("what a plugin warns about stands in the status of its account", async () => {
  const { out } = await makePlace(TWO).run("status");
  expect(out).toContain("Paper work: everybody may write");
  expect(out).not.toContain("Paper default: everybody");
});

describe("directory", () => {
  const { run } = makePlace(TWO);
  const listed = async (...args: string[]) => (await run("directory", ...args, "--channel", "paper")).out;

  test("names the account itself, people, groups and their members, one on each line", async () => {
    expect(await listed("self")).toBe("7\tClaw\n");
    expect(await listed("peers", "list")).toBe("1\tAda\n2\t\n");
    expect(await listed("peers", "--query", "Ad")).toBe("1\tAda\n");
    expect(await listed("peers", "--limit", "1", "--json")).toBe(`${JSON.stringify([{ kind: "user", id: "1", name: "Ada" }], null, 2)}\n`);
    expect(await listed("groups", "members", "--group-id", "g1")).toBe("1\tAda of g1\n");
  });

  test("groups that the configuration names are listed although the platform does not answer", async () => {
    expect(await listed("groups", "list")).toBe("g1\tDen\n");
  });

  test("says what is missing", async () => {
    expect((await run("directory", "peers", "--channel", "bare")).err).toContain("bare has no directory");
    expect((await run("directory", "peers")).err).toContain("expected --channel with one of");
    expect((await run("directory", "groups", "members", "--channel", "paper")).err).toContain("expected --group-id");
    expect((await run("directory", "peers", "--channel", "paper", "--limit", "many")).err).toContain("--limit takes a whole number");
  });
});

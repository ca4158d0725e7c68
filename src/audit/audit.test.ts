import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import { openConfig } from "../config/index.ts";
import { audit, type AuditReport } from "./audit.ts";
import { CHECK_IDS } from "./catalogue.ts";
import type { AuditDeps } from "./finding.ts";
import { applyFixes, type FixReport } from "./fix.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
/** Says nothing but that no proxy is trusted, and what there is. */
const PLAIN = { gateway: { mode: "local", auth: { token: TOKEN } } };

interface Place {
  readonly home: string;
  readonly state: string;
  readonly configPath: string;
}

function makePlace(config: unknown, name = "state"): Place {
  const home = mkdtempSync(join(tmpdir(), "audit-"));
  const state = join(home, name);
  mkdirSync(state, { mode: 0o700, recursive: true });
  const configPath = join(home, "openclaw.json");
  writeFileSync(configPath, JSON.stringify(config), { mode: 0o600 });
  return { home, state, configPath };
}

async function within<T>({ home, state, configPath }: Place, work: (deps: AuditDeps) => Promise<T>, over: Partial<AuditDeps> = {}): Promise<T> {
  const env = { HOME: home, OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: configPath };
  const clock = manualClock(1_794_818_000_000);
  using config = await openConfig({ env, cwd: home, osHome: home, version: "1.0.0", clock, ids: createIds(systemRandom), purpose: "inspect" });
  const deps: AuditDeps = {
    config,
    env,
    osHome: home,
    platform: "linux",
    uid: process.getuid?.(),
    clock,
    deep: false,
    inventory: () => Promise.resolve({ entries: [], diagnostics: [] }),
    probe: () => Promise.resolve({ holder: undefined, reachable: false }),
    riskyEntries: () => [],
    ...over,
  };
  return work(deps);
}

const look = (config: unknown, over: Partial<AuditDeps> = {}): Promise<AuditReport> => within(makePlace(config), audit, over);

const template = (checkId: string): string | undefined =>
  Object.keys(CHECK_IDS).find((id) => new RegExp(`^${id.replaceAll(/[.+]/g, "\\$&").replaceAll("<channel>", "[a-z0-9-]+")}$`).test(checkId));

async function found(config: unknown, over?: Partial<AuditDeps>): Promise<string[]> {
  const { findings, summary } = await look(config, over);
  for (const { checkId, severity } of findings) {
    expect([checkId, template(checkId)]).toEqual([checkId, expect.any(String)]);
    expect([checkId, severity]).toEqual([checkId, expect.toBeOneOf([...CHECK_IDS[template(checkId)!]!])]);
  }
  expect(summary.critical + summary.warn + summary.info).toBe(findings.length);
  return findings.map(({ checkId, severity }) => `${severity} ${checkId}`);
}

test("a plain installation has nothing critical: one warning about proxies, and what there is to attack", async () => {
  expect(await found(PLAIN)).toEqual(["warn gateway.trusted_proxies_missing", "info summary.attack_surface"]);
  expect(await found({})).toEqual(["warn gateway.trusted_proxies_missing", "info summary.attack_surface"]);
});

const gateway = (more: object, auth: object = { token: TOKEN }): object => ({ gateway: { mode: "local", auth, ...more } });
const proxy = (trustedProxy: object, more: object = {}): object => gateway({ bind: "lan", ...more }, { mode: "trusted-proxy", trustedProxy });
const telegram = (section: object, more: object = {}): object => ({
  ...PLAIN,
  channels: { telegram: section },
  commands: { ownerAllowFrom: ["telegram:1"] },
  ...more,
});
const sandbox = (docker: object, more: object = { mode: "all" }): object => ({ ...PLAIN, agents: { defaults: { sandbox: { ...more, docker } } } });
const bwrap = (...binds: readonly string[]): object => ({ ...PLAIN, agents: { defaults: { sandbox: { mode: "all", backend: "bwrap", bwrap: { binds } } } } });
const hooks = (more: object): object => ({ ...PLAIN, hooks: { enabled: true, token: `hooks-${TOKEN}`, defaultSessionKey: "hook:ingress", ...more } });

test.each<[string, object, readonly string[]]>([
  ["no auth on the network", gateway({ bind: "lan" }, { mode: "none" }), ["critical gateway.bind_no_auth", "critical gateway.http.no_auth"]],
  ["no auth on loopback", gateway({}, { mode: "none" }), ["critical gateway.loopback_no_auth", "warn gateway.http.no_auth"]],
  ["a short token", gateway({}, { token: "short" }), ["warn gateway.token_too_short"]],
  ["no limit", gateway({ bind: "lan" }, { token: TOKEN, rateLimit: { maxAttempts: 100_000 } }), ["warn gateway.auth_no_rate_limit"]],
  ["v1 signatures on the network", gateway({ bind: "lan" }, { token: TOKEN, allowUnsignedNonce: true }), ["warn gateway.unsigned_nonce_allowed"]],
  [
    "a proxy that nobody set up",
    proxy({ userHeader: " " }),
    [
      "critical gateway.trusted_proxy_auth",
      "critical gateway.trusted_proxy_no_proxies",
      "critical gateway.trusted_proxy_no_user_header",
      "warn gateway.trusted_proxy_no_allowlist",
    ],
  ],
  [
    "insecure pages",
    gateway({ controlUi: { allowInsecureAuth: true, dangerouslyDisableDeviceAuth: true } }),
    ["critical gateway.control_ui.device_auth_disabled", "critical gateway.control_ui.insecure_auth"],
  ],
  ["a funnel", gateway({ tailscale: { mode: "funnel" } }), ["critical gateway.tailscale_funnel"]],
  ["serve", gateway({ tailscale: { mode: "serve" } }), ["info gateway.tailscale_serve"]],
  ["HTTP endpoints", gateway({ http: { endpoints: { responses: { enabled: true } } } }), ["info gateway.http.session_key_override_enabled"]],
  ["tools over HTTP", gateway({ bind: "lan", tools: { allow: ["gateway", "web_fetch"] } }), ["critical gateway.tools_invoke_http.dangerous_allow"]],
  ["patterns where names are meant", gateway({ nodes: { denyCommands: ["camera.*", "system.run"] } }), ["warn gateway.nodes.deny_commands_ineffective"]],
  ["a remote gateway in the clear", gateway({ remote: { url: "ws://gw.example.com:18789" } }), ["warn gateway.remote_plaintext"]],
  ["a browser without auth", { ...gateway({}, { mode: "none" }), browser: { enabled: true } }, ["critical browser.control_no_auth"]],
  ["a remote browser in the clear", { ...PLAIN, browser: { enabled: true, cdpUrl: "http://browser.example.com:9222" } }, ["warn browser.remote_cdp_http"]],
  [
    "open direct messages",
    telegram({ dmPolicy: "open", allowFrom: ["*"] }),
    ["critical channels.telegram.dm.open", "warn channels.telegram.dm.scope_main_multiuser", "critical security.exposure.open_chats_without_sandbox"],
  ],
  ["open without a star", telegram({ dmPolicy: "open", allowFrom: ["1"] }), ["warn channels.telegram.dm.open_invalid"]],
  ["no direct messages", telegram({ dmPolicy: "disabled" }), ["info channels.telegram.dm.disabled"]],
  ["several senders in one session", telegram({ allowFrom: ["1", "2"] }), ["warn channels.telegram.dm.scope_main_multiuser"]],
  ["names on a list", telegram({ allowFrom: ["@anna"] }), ["warn channels.telegram.allowFrom.invalid_entries"]],
  ["open groups", telegram({ groupPolicy: "open" }), ["critical channels.telegram.groups.open", "critical channels.telegram.groups.allowFrom.missing"]],
  [
    "open groups without commands",
    telegram({ groupPolicy: "open", groupAllowFrom: ["1"] }, { tools: { exec: { security: "deny" } } }),
    ["warn channels.telegram.groups.open"],
  ],
  ["everybody in groups", telegram({ groups: { "*": {} }, groupAllowFrom: ["*"] }), ["critical channels.telegram.groups.allowFrom.wildcard"]],
  ["a webhook without a secret", telegram({ webhookUrl: "https://bot.example/hook" }), ["critical channels.telegram.webhook.secret_missing"]],
  ["an open account", telegram({ accounts: { work: { groupPolicy: "open", groupAllowFrom: ["1"] } } }), ["critical channels.telegram.groups.open"]],
  ["no owner", { ...PLAIN, channels: { telegram: {} } }, ["warn commands.owner_missing"]],
  [
    "discord commands for all",
    { ...PLAIN, channels: { discord: { guilds: { 1: {} } } }, commands: { useAccessGroups: false } },
    ["critical channels.discord.commands.native.unrestricted"],
  ],
  ["discord commands for nobody", { ...PLAIN, channels: { discord: { guilds: { 1: {} } } } }, ["warn channels.discord.commands.native.no_allowlists"]],
  [
    "slack commands for all",
    { ...PLAIN, channels: { slack: { slashCommand: { enabled: true } } }, commands: { useAccessGroups: false } },
    ["critical channels.slack.commands.slash.useAccessGroups_off"],
  ],
  ["slack commands for nobody", { ...PLAIN, channels: { slack: { slashCommand: { enabled: true } } } }, ["warn channels.slack.commands.slash.no_allowlists"]],
  ["a password in the file", gateway({}, { password: "correct horse battery staple" }), ["warn config.secrets.gateway_password_in_config"]],
  ["the hooks' token in the file", hooks({}), ["info config.secrets.hooks_token_in_config"]],
  ["logs with secrets", { ...PLAIN, logging: { redactSensitive: "off" } }, ["warn logging.redact_off"]],
  ["hooks at the root", hooks({ path: "/" }), ["critical hooks.path_root"]],
  ["the same token twice", hooks({ token: TOKEN }), ["critical hooks.token_reuse_gateway_token"]],
  ["a session that senders name", hooks({ mappings: [{ sessionKey: "{{key}}" }] }), ["warn hooks.mapping_session_key_from_request"]],
  ["a session below a prefix", hooks({ mappings: [{ sessionKey: "hook:x:{{key}}" }] }), []],
  ["text of senders that is not marked", hooks({ mappings: [{ allowUnsafeExternalContent: true }] }), ["warn hooks.mapping_unsafe_external_content"]],
  ["a short hooks' token", hooks({ token: "short" }), ["warn hooks.token_too_short"]],
  ["hooks without a session", hooks({ defaultSessionKey: "" }), ["warn hooks.default_session_key_unset"]],
  [
    "hooks that choose sessions",
    hooks({ allowRequestSessionKey: true }),
    ["warn hooks.request_session_key_enabled", "warn hooks.request_session_key_prefixes_missing"],
  ],
  [
    "installs without a hash",
    { ...PLAIN, hooks: { internal: { installs: { x: { source: "npm", spec: "x" } } } } },
    ["warn hooks.installs_missing_integrity", "warn hooks.installs_unpinned_npm_specs"],
  ],
  ["a shared network", sandbox({ network: "host" }), ["critical sandbox.dangerous_network_mode"]],
  ["no seccomp", sandbox({ seccompProfile: "unconfined" }), ["critical sandbox.dangerous_seccomp_profile"]],
  ["no apparmor", sandbox({ apparmorProfile: "unconfined" }), ["critical sandbox.dangerous_apparmor_profile"]],
  [
    "the machine's folders",
    sandbox({ binds: ["/etc:/data", "/var/run/docker.sock:/s"] }),
    ["critical sandbox.dangerous_bind_mount", "critical sandbox.dangerous_bind_mount"],
  ],
  [
    "mounts that give away this machine",
    bwrap("/:/all:ro", "/home:/homes", "/run/../etc/:/x", "/run/user/1000/podman/podman.sock:/s", "/var/lib/docker:/d", "/srv/.ssh/docker.sock:/s"),
    Array.from({ length: 6 }, () => "critical sandbox.dangerous_bind_mount"),
  ],
  [
    "a user's credentials",
    bwrap("/home/ann/.aws:/a:ro", "/home/ann/.config/gh/hosts.yml:/b"),
    Array.from({ length: 2 }, () => "critical sandbox.dangerous_bind_mount"),
  ],
  ["harmless mounts", bwrap("/srv/data:/data", "/home/ann/project:/project", "/opt/tools:/tools:ro"), []],
  [
    "the host's network in bwrap",
    { ...PLAIN, agents: { defaults: { sandbox: { mode: "all", bwrap: { network: "host" } } } } },
    ["critical sandbox.dangerous_network_mode"],
  ],
  ["a relative mount", sandbox({ binds: ["data:/data"] }), ["warn sandbox.bind_mount_non_absolute"]],
  ["a sandbox that is off", sandbox({ image: "x" }, { mode: "off" }), ["warn sandbox.docker_config_mode_off"]],
  ["elevated for all", { ...PLAIN, tools: { elevated: { allowFrom: { telegram: ["*"] } } } }, ["critical tools.elevated.allowFrom.telegram.wildcard"]],
  [
    "elevated for many",
    { ...PLAIN, tools: { elevated: { allowFrom: { telegram: Array.from({ length: 30 }, (_, n) => String(n)) } } } },
    ["warn tools.elevated.allowFrom.telegram.large"],
  ],
  [
    "elevated and open groups",
    telegram({ groupPolicy: "open" }, { tools: { elevated: { allowFrom: { telegram: ["1"] } } } }),
    ["critical security.exposure.open_groups_with_elevated"],
  ],
  ["every command unasked", { ...PLAIN, tools: { exec: { host: "gateway", security: "full", ask: "off" } } }, ["warn tools.exec.full_unasked"]],
  [
    "every command unasked for strangers",
    telegram({ dmPolicy: "open", allowFrom: ["*"] }, { tools: { exec: { host: "gateway", security: "full", ask: "off" } } }),
    ["critical tools.exec.full_unasked"],
  ],
  ["a sandbox that is not there", { ...PLAIN, tools: { exec: { host: "sandbox" } } }, ["warn tools.exec.host_sandbox_no_sandbox_defaults"]],
  [
    "an agent's sandbox that is not there",
    { ...PLAIN, agents: { list: [{ id: "a", tools: { exec: { host: "sandbox" } } }] } },
    ["warn tools.exec.host_sandbox_no_sandbox_agents"],
  ],
  ["files anywhere", { ...PLAIN, tools: { fs: { outside: "allow" } } }, ["warn tools.fs.outside_allow"]],
  [
    "a wider profile",
    { ...PLAIN, tools: { profile: "minimal" }, agents: { list: [{ id: "a", tools: { profile: "full" } }] } },
    ["warn tools.profile_minimal_overridden"],
  ],
  ["a small model", { ...PLAIN, agents: { defaults: { model: { primary: "ollama/llama3.2:3b" } } } }, ["critical models.small_params"]],
  [
    "a small model in a sandbox",
    { ...PLAIN, tools: { deny: ["group:web"] }, agents: { defaults: { sandbox: { mode: "all" }, model: "ollama/qwen2.5-7b" } } },
    ["info models.small_params"],
  ],
  ["an old model", { ...PLAIN, agents: { defaults: { model: "openai/gpt-3.5-turbo" } } }, ["warn models.legacy"]],
  ["a small tier", { ...PLAIN, agents: { defaults: { model: { primary: "openai/gpt-5", fallbacks: ["openai/gpt-5-mini"] } } } }, ["warn models.weak_tier"]],
])("finds: %s", async (_name, config, expected) => {
  expect(await found(config)).toEqual(expect.arrayContaining([...expected]));
});

test("who may read and change files, links, and folders that are synchronised", async () => {
  const place = makePlace({ ...PLAIN, $include: ["./more.json"] }, "Dropbox/state");
  const put = (name: string, mode: number): void => {
    const path = join(place.state, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, "{}");
    chmodSync(path, mode);
  };
  put("agents/main/agent/auth-profiles.json", 0o644);
  put("agents/other/agent/auth-profiles.json", 0o666);
  put("agents/main/sessions/sessions.json", 0o640);
  put("openclaw.db", 0o644);
  put("logs/gateway.log", 0o644);
  put("credentials/x.json", 0o644);
  chmodSync(join(place.state, "credentials"), 0o777);
  writeFileSync(join(place.home, "more.json"), "{}");
  chmodSync(join(place.home, "more.json"), 0o644);
  chmodSync(place.configPath, 0o644);
  chmodSync(place.state, 0o755);
  const ids = async (): Promise<string[]> =>
    [...new Set((await within(place, audit)).findings.map(({ checkId }) => checkId))].filter((id) => id.startsWith("fs.")).sort();
  const wide = [
    "fs.auth_profiles.perms_readable",
    "fs.auth_profiles.perms_writable",
    "fs.config.perms_world_readable",
    "fs.config_include.perms_world_readable",
    "fs.credentials_dir.perms_writable",
    "fs.log_file.perms_readable",
    "fs.sessions_store.perms_readable",
    "fs.state_dir.perms_readable",
    "fs.synced_dir",
  ];
  expect(await ids()).toEqual(wide);
  for (const [mode, id] of [
    [0o777, "fs.state_dir.perms_world_writable"],
    [0o770, "fs.state_dir.perms_group_writable"],
  ] as const) {
    chmodSync(place.state, mode);
    expect(await ids()).toContain(id);
  }
  for (const [mode, id] of [
    [0o640, "fs.config.perms_group_readable"],
    [0o620, "fs.config.perms_writable"],
  ] as const) {
    chmodSync(place.configPath, mode);
    expect(await ids()).toContain(id);
  }
  const fixed = await within(place, applyFixes);
  expect(fixed).toMatchObject({ ok: true, changes: [], errors: [] });
  expect(await ids()).toEqual(["fs.synced_dir"]);
  for (const name of ["credentials/x.json", "agents/main/sessions/sessions.json"]) expect(statSync(join(place.state, name)).mode & 0o777).toBe(0o600);
});

test("a session index at another place is looked at there", async () => {
  const place = makePlace({ ...PLAIN, session: { store: "~/lists/{agentId}.json" } });
  mkdirSync(join(place.state, "agents/main"), { recursive: true });
  mkdirSync(join(place.home, "lists"));
  writeFileSync(join(place.home, "lists/main.json"), "{}");
  chmodSync(join(place.home, "lists/main.json"), 0o644);
  const { findings } = await within(place, audit);
  expect(findings.map(({ checkId }) => checkId)).toContain("fs.sessions_store.perms_readable");
});

test("links are named", async () => {
  const real = makePlace(PLAIN);
  const home = mkdtempSync(join(tmpdir(), "audit-links-"));
  const place = { home, state: join(home, "state"), configPath: join(home, "openclaw.json") };
  symlinkSync(real.state, place.state);
  symlinkSync(real.configPath, place.configPath);
  const { findings } = await within(place, audit);
  expect(findings.map(({ checkId }) => checkId)).toEqual(expect.arrayContaining(["fs.state_dir.symlink", "fs.config.symlink"]));
});

test("--fix closes groups, accounts too, and turns redaction on; nothing else, and the file keeps its comments", async () => {
  const place = makePlace({});
  const text = `{
  // mine
  gateway: { mode: "local", auth: { mode: "none" } },
  logging: { redactSensitive: "off" },
  channels: { telegram: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", accounts: { work: { groupPolicy: "open" }, home: { groupPolicy: "disabled" } } } },
}
`;
  writeFileSync(place.configPath, text, { mode: 0o600 });
  const fix: FixReport = await within(place, applyFixes);
  expect(fix).toMatchObject({
    ok: true,
    configWritten: true,
    configPath: place.configPath,
    stateDir: place.state,
    changes: [
      "channels.telegram.groupPolicy: open → allowlist",
      "channels.telegram.accounts.work.groupPolicy: open → allowlist",
      "logging.redactSensitive: off → tools",
    ],
    actions: [],
    errors: [],
  });
  const after = readFileSync(place.configPath, "utf8");
  expect(after).toContain("// mine");
  expect(after).toMatch(/mode: "none"/);
  expect(after).toMatch(/dmPolicy: "open", allowFrom: \["\*"\]/);
  const ids = (await within(place, audit)).findings.map(({ checkId }) => checkId);
  expect(ids).not.toEqual(expect.arrayContaining(["channels.telegram.groups.open"]));
  expect(ids).toEqual(expect.arrayContaining(["gateway.loopback_no_auth", "channels.telegram.dm.open"]));
  expect(await within(place, applyFixes)).toMatchObject({ configWritten: false, changes: [], actions: [] });
});

test("--deep asks the running gateway and reads the code of plugins and skills", async () => {
  const place = makePlace({ ...PLAIN, plugins: { installs: { sample: { source: "npm", spec: "sample@1.0.0", version: "1.0.0", integrity: "sha512-x" } } } });
  const plugin = join(place.home, "sample");
  mkdirSync(plugin);
  writeFileSync(join(plugin, "index.js"), 'require("node:child_process").exec("true");\n');
  mkdirSync(join(place.state, "skills/digger"), { recursive: true });
  writeFileSync(join(place.state, "skills/digger/run.js"), 'connect("stratum+tcp://pool");\n');
  const entry = {
    id: "sample",
    name: "sample",
    version: "1.1.0",
    origin: "global",
    rootDir: plugin,
    source: join(plugin, "index.js"),
    manifest: { id: "sample", configSchema: {} },
    enabled: true,
  };
  const inventory = () => Promise.resolve({ entries: [entry], diagnostics: [] }) as unknown as ReturnType<AuditDeps["inventory"]>;
  const shallow = await within(place, audit, { inventory });
  expect(shallow.findings.map(({ checkId }) => checkId)).toEqual(expect.arrayContaining(["plugins.extensions_no_allowlist", "plugins.installs_version_drift"]));
  expect(shallow).not.toHaveProperty("deep");
  const probe: AuditDeps["probe"] = () => Promise.resolve({ holder: { pid: 1 } as never, url: "http://127.0.0.1:1", reachable: false, error: "refused" });
  const { deep, findings } = await within(place, audit, { inventory, probe, deep: true });
  expect(deep).toEqual({ gateway: { attempted: true, url: "http://127.0.0.1:1", ok: false, error: "refused" } });
  expect(findings.map(({ checkId, severity }) => `${severity} ${checkId}`)).toEqual(
    expect.arrayContaining(["warn plugins.code_safety", "critical skills.code_safety", "warn gateway.probe_failed"]),
  );
});

test("a check that fails is a finding, and the others are made", async () => {
  const { findings } = await look(PLAIN, {
    inventory: () => Promise.reject(new Error("broken")),
    riskyEntries: () => [{ scope: "*", pattern: "/usr/bin/git", reason: "git runs anything" }],
  });
  expect(findings.map(({ checkId }) => checkId)).toEqual(
    expect.arrayContaining(["security.audit_check_failed", "tools.exec.allowlist_risky", "summary.attack_surface"]),
  );
});

test("a mount of the home, of the state or of what holds the configuration is critical; a workspace in the state is not", async () => {
  const place = makePlace({}, ".openclaw");
  const { home, state } = place;
  symlinkSync(state, join(home, "link"));
  mkdirSync(join(state, "workspace/project"), { recursive: true });
  const dangerous = [home, dirname(home), state, join(state, "agents"), join(home, "link"), join(home, "openclaw.json")];
  const fine = [join(state, "workspace/project"), join(home, "project")];
  for (const part of ["docker", "bwrap", "browser"]) {
    const binds = [...dangerous, ...fine].map((path) => `${path}:/inside:ro`);
    const config = {
      ...PLAIN,
      agents: { defaults: { sandbox: { mode: "all", [part]: { binds } } }, list: [{ id: "a", sandbox: { [part]: { binds: [`${home}:/h`] } } }] },
    };
    writeFileSync(place.configPath, JSON.stringify(config));
    const { findings } = await within(place, audit);
    const named = findings.filter(({ checkId }) => checkId === "sandbox.dangerous_bind_mount").map(({ detail }) => detail);
    expect(named, part).toHaveLength(dangerous.length + 1);
    for (const path of dangerous) expect(named.join("\n"), part).toContain(JSON.stringify(`${path}:/inside:ro`));
  }
});

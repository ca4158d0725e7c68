import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { HostConfig, WizardPrompter } from "../../protocol/index.ts";
import { bindSdkHost } from "./host-binding.ts";
import type { OpenClawPluginApi } from "./types/index.ts";
import { createAccountListHelpers, describeAccountSnapshot, resolveAccountEntry } from "./config/account-lists.ts";
import { createChannelApprovalAuth } from "./access/approvals.ts";
import { defineBundledChannelEntry, loadBundledEntryExportSync } from "./entry/channel-entry.ts";
import { createChatChannelPlugin } from "./entry/chat-channel.ts";
import { createScopedChannelConfigAdapter, createScopedDmSecurityResolver, createTopLevelChannelConfigAdapter } from "./config/config-adapters.ts";
import { AllowFromListSchema, buildMultiAccountChannelSchema } from "./config/channel-schemas.ts";
import {
  createConditionalWarningCollector,
  createOpenProviderGroupPolicyWarningCollector,
  resolveOpenProviderRuntimeGroupPolicy,
} from "./access/group-policies.ts";
import { createChannelPairingController } from "./messages/pairing.ts";
import {
  collectConditionalChannelFieldAssignments,
  createChannelSecretTargetRegistryEntries,
  getChannelSurface,
  resolveSecretInputString,
} from "./config/secret-contract.ts";
import { tryReadSecretFileSync } from "./config/secret-files.ts";
import {
  buildAgentSessionKey,
  buildChannelOutboundSessionRoute,
  resolveThreadSessionKeys,
  stripChannelTargetPrefix,
  stripTargetKindPrefix,
} from "./messages/session-keys.ts";
import {
  createPatchedAccountSetupAdapter,
  createSetupInputPresenceValidator,
  parseSetupEntriesWithParser,
  patchScopedAccountConfig,
  patchTopLevelChannelConfigSection,
  setTopLevelChannelDmPolicyWithAllowFrom,
} from "./config/setup-config.ts";
import { createDelegatedSetupWizardProxy, createStandardChannelSetupStatus, runSingleChannelSecretStep } from "./config/setup-wizard.ts";
import { channelReadyPatch, createComputedAccountStatusAdapter, runPassiveAccountLifecycle } from "./messages/status-adapters.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sdk-newer-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("entries", () => {
  test("a channel's files are loaded when it is registered, and get the runtime", () => {
    const dir = folder();
    writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
    writeFileSync(join(dir, "channel.js"), 'export const plugin = { id: "sample" };');
    writeFileSync(join(dir, "runtime.js"), "export const seen = []; export const setRuntime = (runtime) => seen.push(runtime);");
    const importMetaUrl = pathToFileURL(join(dir, "index.js")).href;
    const order: unknown[] = [];
    const entry = defineBundledChannelEntry({
      id: "sample",
      name: "Sample",
      description: "d",
      importMetaUrl,
      plugin: { specifier: "./channel.js", exportName: "plugin" },
      runtime: { specifier: "./runtime.js", exportName: "setRuntime" },
      registerFull: () => void order.push("full"),
    });
    const api = { registrationMode: "full", runtime: "the runtime", registerChannel: (given: unknown) => order.push(given) };
    entry.register(api as unknown as OpenClawPluginApi);
    expect(order).toEqual([{ plugin: { id: "sample" } }, "full"]);
    expect(loadBundledEntryExportSync(importMetaUrl, { specifier: "./runtime.js", exportName: "seen" })).toEqual(["the runtime"]);
    expect(() => loadBundledEntryExportSync(importMetaUrl, { specifier: "./channel.js", exportName: "nothing" })).toThrow('no export "nothing"');
  });

  test("a chat channel is its parts, and approved users get a message", async () => {
    const sent: unknown[] = [];
    const plugin = createChatChannelPlugin({
      base: { id: "sample", meta: {} },
      pairing: { text: { idLabel: "userId", message: "welcome", notify: (params) => void sent.push(params) } },
      outbound: { base: { deliveryMode: "direct" }, attachedResults: { sendText: async () => ({ messageId: "1" }) } },
    });
    expect(plugin).toMatchObject({ id: "sample", pairing: { idLabel: "userId" }, outbound: { deliveryMode: "direct" } });
    await plugin.pairing?.notifyApproval?.({ cfg: {}, id: "7" });
    expect(sent).toEqual([{ cfg: {}, id: "7", message: "welcome" }]);
    expect(await plugin.outbound?.sendText?.({} as never)).toEqual({ channel: "sample", messageId: "1" });
  });
});

describe("accounts", () => {
  const cfg: HostConfig = { channels: { s: { token: "t", defaultAccount: "Work", accounts: { Work: { name: "w" }, home: {} } } } };

  test("come from the list, the channel's own keys and the environment", () => {
    const helpers = createAccountListHelpers("s", { implicitDefaultAccount: { channelKeys: ["token"], envVars: ["S_TOKEN"] }, omitKeys: ["defaultAccount"] });
    expect(helpers.listAccountIds(cfg)).toEqual(["default", "home", "Work"]);
    expect(helpers.resolveDefaultAccountId(cfg)).toBe("work");
    expect(helpers.resolveAccountConfig(cfg, "work")).toEqual({ token: "t", name: "w" });
    expect(createAccountListHelpers("x", { fallbackAccountIdWhenEmpty: false }).listAccountIds({})).toEqual([]);
    const byEnv = createAccountListHelpers("x", { fallbackAccountIdWhenEmpty: false, implicitDefaultAccount: { envVars: ["S_TOKEN"] } });
    using _bound = bindSdkHost({ env: { S_TOKEN: "x" }, stateDir: "/s" });
    expect(byEnv.listAccountIds({})).toEqual(["default"]);
  });

  test("are found whatever their spelling, and described", () => {
    expect(resolveAccountEntry({ Work: 1 }, "work")).toBe(1);
    expect(describeAccountSnapshot({ account: { accountId: "a" }, configured: true, extra: { key: 1 } })).toEqual({
      accountId: "a",
      name: undefined,
      enabled: true,
      configured: true,
      key: 1,
    });
  });

  test("are switched and deleted where they stand", () => {
    const account = { resolveAccount: () => ({ allowFrom: [1, "b"] }), resolveAllowFrom: (found: { allowFrom: (string | number)[] }) => found.allowFrom };
    const scoped = createScopedChannelConfigAdapter({ sectionKey: "s", ...account });
    expect(scoped.setAccountEnabled({ cfg: { channels: { s: {} } }, accountId: "default", enabled: false }).channels?.["s"]).toEqual({ enabled: false });
    expect(scoped.resolveAllowFrom({ cfg: {} })).toEqual(["1", "b"]);
    const top = createTopLevelChannelConfigAdapter({ sectionKey: "s", deleteMode: "clear-fields", clearBaseFields: ["token"], ...account });
    expect(top.deleteAccount({ cfg: { channels: { s: { token: "x", kept: 1 } } }, accountId: "default" }).channels?.["s"]).toEqual({ kept: 1 });
  });

  test("say who may write to them, and where that stands", () => {
    const resolve = createScopedDmSecurityResolver<{ accountId: string; policy?: string }>({
      channelKey: "s",
      resolvePolicy: (account) => account.policy,
      resolveAllowFrom: () => [1],
      policyPathSuffix: "dmPolicy",
    });
    expect(resolve({ cfg: { channels: { s: { accounts: { work: {} } } } }, account: { accountId: "work" } })).toMatchObject({
      policy: "pairing",
      policyPath: "channels.s.accounts.work.dmPolicy",
      allowFromPath: "channels.s.accounts.work.",
    });
  });

  test("have a schema each and one for the channel", () => {
    const account = z.strictObject({ name: z.string().optional(), allowFrom: AllowFromListSchema });
    const schema = buildMultiAccountChannelSchema(account, { accountSchema: account }) as typeof account;
    expect(schema.safeParse({ accounts: { a: { allowFrom: [1, "x"] } }, defaultAccount: "a" }).success).toBe(true);
    expect(schema.safeParse({ accounts: { a: { other: 1 } } }).success).toBe(false);
  });
});

describe("status", () => {
  test("a snapshot is the account's facts and what it said", () => {
    const adapter = createComputedAccountStatusAdapter({
      defaultRuntime: {},
      resolveAccountSnapshot: () => ({ accountId: "a", configured: true, extra: { mode: "polling" } }),
    });
    expect(adapter.buildAccountSnapshot({ account: {}, cfg: {}, runtime: { running: true, lastError: "x" } })).toMatchObject({
      accountId: "a",
      configured: true,
      running: true,
      lastError: "x",
      lastStartAt: null,
      mode: "polling",
    });
    expect(adapter["defaultRuntime"]).toEqual({});
    expect(channelReadyPatch({ accountId: "a" })).toMatchObject({ accountId: "a", connected: true, lastError: null });
  });

  test("a passive account runs until it is aborted, and is stopped", async () => {
    const stop = new AbortController();
    const log: string[] = [];
    const run = runPassiveAccountLifecycle({ abortSignal: stop.signal, start: async () => (log.push("start"), { stop: () => void log.push("stop") }) });
    await Promise.resolve();
    expect(log).toEqual(["start"]);
    stop.abort();
    await run;
    expect(log).toEqual(["start", "stop"]);
  });
});

describe("sessions", () => {
  test("direct messages share a session as far as the scope says", () => {
    const base = { agentId: "Main", channel: "S", accountId: "Work", peer: { kind: "direct" as const, id: "U1" } };
    const keys = (["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] as const).map((dmScope) => buildAgentSessionKey({ ...base, dmScope }));
    expect(keys).toEqual(["agent:main:main", "agent:main:direct:u1", "agent:main:s:direct:u1", "agent:main:s:work:direct:u1"]);
    expect(buildAgentSessionKey({ ...base, dmScope: "per-peer", identityLinks: { Ann: ["s:u1"] } })).toBe("agent:main:direct:ann");
  });

  test("groups and threads have their own", () => {
    const route = buildChannelOutboundSessionRoute({
      cfg: {},
      agentId: "main",
      channel: "s",
      peer: { kind: "group", id: "g" },
      chatType: "group",
      from: "s:group:g",
      to: "s:g",
    });
    expect(route).toMatchObject({ sessionKey: "agent:main:s:group:g", to: "s:g" });
    expect(resolveThreadSessionKeys({ baseSessionKey: "k", threadId: "T1" }).sessionKey).toBe("k:thread:t1");
    expect([stripChannelTargetPrefix(" ZL:group:7 ", "zalo", "zl"), stripTargetKindPrefix("group:7")]).toEqual(["group:7", "7"]);
  });
});

describe("groups", () => {
  test("are closed where nothing is configured, open where the channel is", () => {
    expect(resolveOpenProviderRuntimeGroupPolicy({ providerConfigPresent: false })).toEqual({ groupPolicy: "allowlist", providerMissingFallbackApplied: true });
    expect(resolveOpenProviderRuntimeGroupPolicy({ providerConfigPresent: true })).toEqual({ groupPolicy: "open", providerMissingFallbackApplied: false });
  });

  test("warnings become findings", async () => {
    const collectWarnings = createOpenProviderGroupPolicyWarningCollector<object>({
      providerConfigPresent: () => true,
      resolveGroupPolicy: () => undefined,
      collect: ({ groupPolicy }) => [`- it is ${groupPolicy}`],
    });
    const findings = createConditionalWarningCollector.findings({ collectWarnings, checkId: "c", severity: "warn", title: "t" });
    expect(await findings({ account: {}, cfg: {} })).toEqual([{ checkId: "c", severity: "warn", title: "t", detail: "it is open" }]);
  });
});

describe("secrets", () => {
  const ref = { source: "env", provider: "default", id: "X" };

  test("every place that may hold one is listed, and references in use are collected", () => {
    expect(createChannelSecretTargetRegistryEntries({ channelKey: "s", channel: ["a"], account: ["b"] }).map((entry) => entry.pathPattern)).toEqual([
      "channels.s.accounts.*.b",
      "channels.s.a",
    ]);
    const config: HostConfig = { channels: { s: { token: ref, accounts: { on: {}, off: { enabled: false, token: ref } } } } };
    const context = { assignments: [] as { path: string; apply(value: unknown): void }[], warnings: [] as { path: string }[] };
    const { channel, surface } = getChannelSurface(config, "s")!;
    collectConditionalChannelFieldAssignments({
      channelKey: "s",
      field: "token",
      channel,
      surface,
      context,
      topLevelActiveWithoutAccounts: true,
      topLevelInheritedAccountActive: ({ account, enabled }) => enabled && !("token" in account),
      accountActive: ({ enabled }) => enabled,
    });
    expect(context.assignments.map((entry) => entry.path)).toEqual(["channels.s.token"]);
    expect(context.warnings.map((entry) => entry.path)).toEqual(["channels.s.accounts.off.token"]);
    context.assignments[0]!.apply("resolved");
    expect(config.channels?.["s"]?.["token"]).toBe("resolved");
  });

  test("a text is available, a reference is not, nothing is missing", () => {
    expect([" t ", ref, ""].map((value) => resolveSecretInputString({ value, path: "p" }).status)).toEqual(["available", "configured_unavailable", "missing"]);
  });

  test("a file is read whole and plain, or says why not", () => {
    const dir = folder();
    writeFileSync(join(dir, "token"), " secret\n");
    symlinkSync(join(dir, "token"), join(dir, "link"));
    expect(tryReadSecretFileSync(join(dir, "token"), "token")).toBe("secret");
    expect(tryReadSecretFileSync(join(dir, "link"), "token", { rejectSymlink: true }, { configPath: "channels.s.tokenFile" })).toMatchObject({
      status: "configured_unavailable",
      diagnostic: { configPath: "channels.s.tokenFile" },
    });
    expect(tryReadSecretFileSync(join(dir, "none"), "token")).toBeUndefined();
  });
});

describe("setting up", () => {
  test("keys go to the section, or to the account", () => {
    const cfg: HostConfig = { channels: { s: { old: 1, accounts: { b: { name: "B" } } } } };
    expect(patchTopLevelChannelConfigSection({ cfg, channel: "s", clearFields: ["old", "accounts"], enabled: true, patch: { a: 1 } }).channels?.["s"]).toEqual({
      enabled: true,
      a: 1,
    });
    expect(patchScopedAccountConfig({ cfg, channelKey: "s", accountId: "B", patch: { t: 1 } }).channels?.["s"]).toMatchObject({
      enabled: true,
      accounts: { b: { name: "B", enabled: true, t: 1 } },
    });
    expect(setTopLevelChannelDmPolicyWithAllowFrom({ cfg: {}, channel: "s", dmPolicy: "open" }).channels?.["s"]).toEqual({
      dmPolicy: "open",
      allowFrom: ["*"],
    });
  });

  test("an adapter checks and writes what was entered", () => {
    const validateInput = createSetupInputPresenceValidator({
      defaultAccountOnlyEnvError: "only default",
      whenNotUseEnv: [{ someOf: ["token", "file"], message: "token needed" }],
    });
    expect([
      validateInput({ accountId: "x", input: { useEnv: true } }),
      validateInput({ accountId: "x", input: { token: " " } }),
      validateInput({ accountId: "x", input: { file: "f" } }),
    ]).toEqual(["only default", "token needed", null]);
    const adapter = createPatchedAccountSetupAdapter({ channelKey: "s", buildPatch: (input) => ({ botToken: input["token"] }) });
    const apply = adapter["applyAccountConfig"] as (params: object) => HostConfig;
    expect(apply({ cfg: {}, accountId: "default", input: { token: "t" } }).channels?.["s"]).toEqual({ enabled: true, botToken: "t" });
  });

  test("entries are parsed one by one, the first error ends it", () => {
    const parse = (entry: string) => (/^\d+$/.test(entry) ? { value: entry } : { error: `bad ${entry}` });
    expect(parseSetupEntriesWithParser("1, 2,1,*", parse)).toEqual({ entries: ["1", "2", "*"] });
    expect(parseSetupEntriesWithParser("1,x", parse)).toEqual({ entries: [], error: "bad x" });
  });

  test("a wizard stands for one that is loaded with its first step", async () => {
    let loads = 0;
    const wizard = createDelegatedSetupWizardProxy({
      channel: "s",
      status: { configuredLabel: "yes" },
      delegateFinalize: true,
      loadWizard: async () => (loads++, { finalize: () => "done" }),
    });
    expect(loads).toBe(0);
    expect(await (wizard["finalize"] as (params: object) => Promise<unknown>)({})).toBe("done");
    const status = createStandardChannelSetupStatus({
      channelLabel: "S",
      configuredLabel: "yes",
      unconfiguredLabel: "no",
      includeStatusLine: true,
      resolveConfigured: () => true,
      resolveExtraStatusLines: () => ["more"],
    });
    expect(await status.resolveStatusLines?.({ cfg: {}, configured: false })).toEqual(["S: no", "more"]);
  });

  test("a secret is taken from the environment, kept, or asked for", async () => {
    const asked: string[] = [];
    const prompter = {
      confirm: async ({ message }: { message: string }) => (asked.push(message), message === "env?"),
      text: async () => " typed ",
    } as unknown as WizardPrompter;
    const base = {
      cfg: {},
      prompter,
      envPrompt: "env?",
      keepPrompt: "keep?",
      inputPrompt: "in",
      applyUseEnv: () => ({ env: 1 }) as HostConfig,
      applySet: (_cfg: HostConfig, value: string) => ({ value }) as HostConfig,
    };
    expect(await runSingleChannelSecretStep({ ...base, accountConfigured: true, hasConfigToken: false, allowEnv: true, envValue: "e" })).toEqual({
      cfg: { env: 1 },
      action: "use-env",
      resolvedValue: "e",
    });
    expect(await runSingleChannelSecretStep({ ...base, accountConfigured: true, hasConfigToken: true, allowEnv: true, envValue: "e" })).toEqual({
      cfg: { value: "typed" },
      action: "set",
      resolvedValue: "typed",
    });
    expect(asked).toEqual(["env?", "keep?"]);
  });
});

test("a stranger is sent a code once", async () => {
  const requests = [
    { code: "ABC", created: true },
    { code: "ABC", created: false },
  ];
  const pairing = {
    upsertPairingRequest: async () => requests.shift()!,
    buildPairingReply: ({ code }: { code: string }) => `code ${code}`,
    readAllowFromStore: async () => [],
  };
  const controller = createChannelPairingController({ core: { channel: { pairing } } as never, channel: "s", accountId: "a" });
  const sent: string[] = [];
  const challenge = () => controller.issueChallenge({ senderId: "7", senderIdLine: "id 7", sendPairingReply: async (text) => sent.push(text) });
  expect([await challenge(), await challenge()]).toEqual([{ created: true, code: "ABC" }, { created: false }]);
  expect(sent).toEqual(["code ABC"]);
});

test("only approvers may approve", () => {
  const { approvalAuth } = createChannelApprovalAuth({
    channelLabel: "S",
    resolveInputs: () => ({ allowFrom: ["s:1", "name"] }),
    normalizeApprover: (value) => /\d+/.exec(String(value))?.[0],
  });
  expect([
    approvalAuth.authorizeActorAction({ cfg: {}, senderId: "1" }).authorized,
    approvalAuth.authorizeActorAction({ cfg: {}, senderId: "2" }).authorized,
    approvalAuth.authorizeActorAction({ cfg: {} }).authorized,
  ]).toEqual([true, false, false]);
});

import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { listDevicePairing } from "../access/device-pairing.ts";
import { createSubsystemLogger, retryAsync, sleepWithAbort } from "../environment.ts";
import { bindSdkHost, type SdkLogRecord } from "../host-binding.ts";
import { createLazyRuntimeModule, createPluginRuntimeStore } from "./runtime-store.ts";
import { buildPluginConfigSchema, definePluginEntry } from "./plugin-entry.ts";
import { emptyPluginConfigSchema } from "./plugin-config.ts";
import { promptAccountId, promptChannelAccessConfig } from "../config/prompts.ts";
import { buildOauthProviderAuthResult } from "../network/provider-auth.ts";
import * as schemas from "../config/schemas.ts";
import { normalizeResolvedSecretInputString } from "../config/secrets.ts";
import { recordInboundSession } from "../messages/sessions.ts";
import { defineToolPlugin } from "./tool-plugin.ts";

describe("a plugin's entry", () => {
  it("has an empty settings schema unless it brings one", () => {
    const entry = definePluginEntry({ id: "a", name: "A", description: "d", register() {} });
    expect(["", { x: 1 }, {}, undefined].map((value) => entry.configSchema.safeParse!(value).success)).toEqual([false, false, true, true]);
    expect(emptyPluginConfigSchema().jsonSchema).toMatchObject({ additionalProperties: false });
    const own = buildPluginConfigSchema(z.object({ key: z.string() }));
    expect([own.safeParse!({ key: "x" }).success, own.safeParse!(undefined).success, own.jsonSchema]).toMatchObject([true, false, { required: ["key"] }]);
  });

  it("may be nothing but tools, which get their settings and return plain values", async () => {
    const plugin = defineToolPlugin<{ greeting: string }>({
      id: "t",
      name: "T",
      description: "d",
      tools: (tool) => [
        tool({ name: "greet", description: "d", parameters: Type.Object({ who: Type.String() }), execute: ({ who }, config) => `${config.greeting} ${who}` }),
        tool({ name: "sum", description: "d", parameters: { type: "object" }, optional: true, execute: () => ({ total: 3 }) }),
      ],
    });
    const registered: { factory: (ctx: object) => { execute(id: string, params: object): Promise<unknown> }; options: object }[] = [];
    const api = { pluginConfig: { greeting: "hello" }, registerTool: (factory: never, options: object) => registered.push({ factory, options }) };
    await plugin.register(api as never);
    expect(registered.map(({ options }) => options)).toEqual([
      { name: "greet", optional: undefined },
      { name: "sum", optional: true },
    ]);
    expect(await registered[0]!.factory({}).execute("1", { who: "you" })).toEqual({ content: [{ type: "text", text: "hello you" }], details: "hello you" });
    expect(await registered[1]!.factory({}).execute("1", {})).toMatchObject({ details: { total: 3 } });
  });
});

describe("schemas", () => {
  it.each([
    [schemas.DmPolicySchema, ["pairing", "open"], ["x"]],
    [schemas.GroupPolicySchema, ["allowlist"], ["pairing"]],
    [schemas.MarkdownConfigSchema, [undefined, { tables: "code" }], [{ tables: "x" }, { more: 1 }]],
    [schemas.ToolPolicySchema, [{ allow: ["a"] }, { alsoAllow: ["a"], deny: [] }], [{ allow: ["a"], alsoAllow: ["b"] }]],
    [schemas.BlockStreamingCoalesceSchema, [{ idleMs: 0 }], [{ minChars: 0 }]],
    [schemas.DmConfigSchema, [{ historyLimit: 0 }], [{ historyLimit: -1 }]],
    [schemas.TtsConfigSchema, [undefined, { provider: "edge", auto: "always" }], [{ provider: "x" }, { timeoutMs: 1 }]],
  ])("%# take what fits and nothing else", (schema, good, bad) => {
    expect(good.map((value) => schema.safeParse(value).success)).toEqual(good.map(() => true));
    expect(bad.map((value) => schema.safeParse(value).success)).toEqual(bad.map(() => false));
  });

  it("nest into a plugin's own and describe themselves as JSON Schema", () => {
    const own = z.object({ dmPolicy: schemas.DmPolicySchema.optional().default("pairing"), markdown: schemas.MarkdownConfigSchema });
    expect(own.parse({})).toEqual({ dmPolicy: "pairing" });
    expect(schemas.buildChannelConfigSchema(own).schema).toMatchObject({
      type: "object",
      properties: { dmPolicy: { enum: ["pairing", "allowlist", "open", "disabled"] } },
    });
    expect(schemas.buildChannelConfigSchema({}).schema).toEqual({ type: "object", additionalProperties: true });
  });

  it("refuse a secret that is still a reference", () => {
    expect(normalizeResolvedSecretInputString({ value: " x ", path: "p" })).toBe("x");
    expect(() => normalizeResolvedSecretInputString({ value: { source: "env", provider: "default", id: "TOKEN" }, path: "channels.x.token" })).toThrow(
      /channels\.x\.token.*env:TOKEN/,
    );
  });
});

describe("questions", () => {
  const prompter = (answers: unknown[]) => {
    const next = async () => answers.shift();
    const notes: string[] = [];
    return { notes, prompter: { select: next, text: next, confirm: next, note: async (text: string) => void notes.push(text) } as never };
  };

  it("for an account take one that exists or make a name fit", async () => {
    const ask = (answers: unknown[]) => {
      const { prompter: asked, notes } = prompter(answers);
      return promptAccountId({ cfg: {}, prompter: asked, label: "IRC", listAccountIds: () => ["default"], defaultAccountId: "default" }).then((id) => [
        id,
        notes.length,
      ]);
    };
    expect(await ask(["default"])).toEqual(["default", 0]);
    expect(await ask(["__new__", "My Work"])).toEqual(["my-work", 1]);
  });

  it("for access end early or with a list", async () => {
    const ask = (answers: unknown[]) => promptChannelAccessConfig({ prompter: prompter(answers).prompter, label: "IRC" });
    expect(await ask([false])).toBeNull();
    expect(await ask([true, "open"])).toEqual({ policy: "open", entries: [] });
    expect(await ask([true, "allowlist", "a, b\nc,"])).toEqual({ policy: "allowlist", entries: ["a", "b", "c"] });
  });

  it("of a provider end in a profile", () => {
    const result = buildOauthProviderAuthResult({ providerId: "p", defaultModel: "p/m", access: "a", email: "x@y", expires: 5 });
    expect(result).toMatchObject({
      profiles: [{ profileId: "p:x@y", credential: { type: "oauth", access: "a", expires: 5 } }],
      configPatch: { agents: { defaults: { models: { "p/m": {} } } } },
    });
    expect(buildOauthProviderAuthResult({ providerId: "p", defaultModel: "m", access: "a" }).profiles[0]!.profileId).toBe("p:default");
  });
});

describe("the host", () => {
  it("is missed by what cannot do without it", async () => {
    await expect(listDevicePairing()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    createSubsystemLogger("quiet").info("nobody hears this");
  });

  it("takes logs and sessions; a session that cannot be noted is reported", async () => {
    const lines: SdkLogRecord[] = [];
    const errors: unknown[] = [];
    using _bound = bindSdkHost({ env: {}, stateDir: "/s", log: (record) => lines.push(record), recordInboundSession: () => Promise.reject(new Error("full")) });
    createSubsystemLogger("a").child("b").warn("x", { n: 1 });
    await recordInboundSession({ storePath: "s", sessionKey: "k", ctx: {}, onRecordError: (error) => errors.push(error) });
    expect([lines, errors]).toMatchObject([[{ level: "warn", subsystem: "a/b", message: "x", meta: { n: 1 } }], [{ message: "full" }]]);
  });

  it("gives its runtime to the plugin's own store", () => {
    const store = createPluginRuntimeStore<{ version: string }>({ pluginId: "p" });
    expect(() => store.getRuntime()).toThrow(/runtime of p/);
    store.setRuntime({ version: "1" });
    expect(store.getRuntime()).toEqual({ version: "1" });
    store.clearRuntime();
    expect(store.tryGetRuntime()).toBeNull();
  });

  it("is waited for, tried again and loaded once", async () => {
    const stopped = new AbortController();
    const waiting = sleepWithAbort(60_000, stopped.signal);
    stopped.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    let tries = 0;
    const flaky = async () => {
      tries += 1;
      if (tries < 2) throw new Error("not yet");
      return tries;
    };
    expect(await retryAsync(flaky, { minDelayMs: 1 })).toBe(2);
    tries = 0;
    const lazy = createLazyRuntimeModule(flaky);
    await expect(lazy()).rejects.toThrow("not yet");
    expect([await lazy(), await lazy(), tries]).toEqual([2, 2, 2]);
  });
});

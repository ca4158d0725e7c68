/** A gateway in memory for tests of commands: everything that was done to it is written down. */
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { systemRandom } from "../../base/random.ts";
import { redactConfig, withoutPath, withValue, type OpenClawConfig } from "../../config/index.ts";
import type { MsgContext, SessionEntry } from "../../protocol/index.ts";
import type { CommandCall, CommandVerdict } from "./commands.ts";
import { createCommands } from "./create-commands.ts";
import type { CommandPorts, StatusFacts } from "./ports.ts";

export const KEY = "agent:main:main";
const MODELS = [
  { provider: "anthropic", id: "claude-opus-4-6" },
  { provider: "anthropic", id: "claude-sonnet-4-5" },
  { provider: "anthropic", id: "claude-sonnet-4-6" },
  { provider: "openai", id: "gpt-5.2" },
  { provider: "openai", id: "gpt-5-mini" },
  { provider: "zai", id: "glm-5" },
];

export interface Setup {
  readonly config?: OpenClawConfig;
  readonly entry?: Partial<SessionEntry>;
  readonly ports?: Partial<CommandPorts>;
}

/** The texts that are sent at once. */
export const textOf = (verdict: CommandVerdict): string =>
  (verdict.kind === "answered" ? verdict.reply : verdict.asides).map(({ text = "" }) => text).join("\n");

/** The model that was chosen for a session. */
export function chosenModel(entry: SessionEntry | undefined): string | undefined {
  const { providerOverride, modelOverride } = (entry ?? {}) as Readonly<Record<string, string | undefined>>;
  return modelOverride === undefined ? undefined : `${providerOverride}/${modelOverride}`;
}

/** A session in memory. */
function memorySession(given: Partial<SessionEntry> | undefined, now: number, log: string[]) {
  let entry: SessionEntry | undefined = { sessionId: "0123456789abcdef", updatedAt: now - 60_000, ...given };
  const port: CommandPorts["session"] = {
    read: (key) => Promise.resolve(key === KEY ? entry : undefined),
    patch: (key, _agentId, patch) => {
      log.push(`patch ${key} ${JSON.stringify(patch)}`);
      entry = Object.fromEntries(Object.entries({ ...entry, ...patch }).filter(([, value]) => value !== null)) as unknown as SessionEntry;
      return Promise.resolve();
    },
    reset: (key, _agentId, reason) => {
      log.push(`reset ${key} ${reason}`);
      entry = { sessionId: "fresh", updatedAt: now };
      return Promise.resolve({ sessionId: "fresh" });
    },
    compact: (key, _agentId, instructions) => {
      log.push(`compact ${key} ${instructions ?? "-"}`);
      return Promise.resolve({ compacted: true, tokensBefore: 90_000, tokensAfter: 1200 });
    },
    transcript: () => Promise.resolve(undefined),
  };
  return { port, entry: () => entry };
}

/** A configuration in memory. */
function memoryConfig(given: OpenClawConfig, log: string[]): CommandPorts["config"] {
  let config = given;
  let overrides: Readonly<Record<string, unknown>> = {};
  return {
    current: () => config,
    shown: () => Promise.resolve(redactConfig(config)),
    edit: (edit) => {
      log.push(`edit ${JSON.stringify(edit)}`);
      if (edit.kind === "set") config = withValue(config, edit.path as string[], edit.value)!.value as OpenClawConfig;
      if (edit.kind === "unset") config = withoutPath(config, edit.path as string[]) as OpenClawConfig;
      return Promise.resolve();
    },
    overrides: {
      get: () => overrides,
      set(path, value) {
        overrides = withValue(overrides, path, value)!.value as Readonly<Record<string, unknown>>;
      },
      unset(path) {
        const before = overrides;
        overrides = withoutPath(overrides, path) as Readonly<Record<string, unknown>>;
        return before !== overrides;
      },
      reset() {
        overrides = {};
      },
    },
  };
}

/** Six models of three providers. */
function models(entry: () => SessionEntry | undefined): CommandPorts["models"] {
  return {
    list: () => Promise.resolve(MODELS),
    standard: () => Promise.resolve(MODELS[0]!),
    current() {
      const { providerOverride = "anthropic", modelOverride } = (entry() ?? {}) as Readonly<Record<string, string | undefined>>;
      return Promise.resolve(modelOverride === undefined ? MODELS[0]! : { provider: providerOverride, id: modelOverride });
    },
    levels: ({ provider, id }) =>
      Promise.resolve(provider === "zai" ? ["off", "low"] : ["off", "minimal", "low", "medium", "high", ...(id === "gpt-5.2" ? (["xhigh"] as const) : [])]),
    providers: () =>
      Promise.resolve([
        { id: "openai", baseUrl: "https://api.openai.com/v1", api: "openai-responses", profiles: [{ id: "openai:work", label: "key sk-secret" }] },
      ]),
  };
}

const FACTS: StatusFacts = {
  version: "1.2.3",
  commit: "abc",
  model: "anthropic/claude-opus-4-6",
  auth: "api-key",
  usesApiKey: true,
  costUsd: 0.5,
  contextWindow: 200_000,
  thinkingDefault: "low",
  runtime: "direct",
};

function callOf(text: string, more: Partial<CommandCall>, ctx: Partial<MsgContext>): CommandCall {
  return {
    ctx: { BodyForCommands: text, ...ctx },
    sessionKey: KEY,
    agentId: "main",
    channel: "telegram",
    accountId: "default",
    senderId: "42",
    isGroup: false,
    authorized: true,
    owner: true,
    source: "text",
    canAnswerAside: true,
    wasMentioned: false,
    signal: new AbortController().signal,
    ...more,
  };
}

export function setup(given: Setup = {}) {
  const clock = manualClock(Date.UTC(2026, 10, 15, 12));
  const log: string[] = [];
  const errors: unknown[] = [];
  const session = memorySession(given.entry, clock.now(), log);
  const ports: CommandPorts = {
    clock,
    ids: createIds(systemRandom),
    redact: (text) => text.replaceAll("sk-secret", "***"),
    onError: (_command, error) => void errors.push(error),
    config: memoryConfig(given.config ?? {}, log),
    session: session.port,
    runs: {
      stop: (key) => {
        log.push(`stop ${key}`);
        return Promise.resolve({ runIds: ["run-1"], waiting: 2, processes: 1 });
      },
      depth: () => 3,
    },
    status: { facts: () => Promise.resolve(FACTS) },
    models: models(session.entry),
    workspace: () => "/nowhere",
    elevation: () => ({ permitted: true, named: true }),
    choice: { sandboxed: () => false, stillMay: () => () => true },
    fire: (action, key) => {
      log.push(`hook ${action} ${key}`);
      return Promise.resolve([]);
    },
    systemEvent: (_key, text) => void log.push(`event ${text}`),
    ...given.ports,
  };
  const commands = createCommands(ports);
  const run = (text: string, more: Partial<CommandCall> = {}, ctx: Partial<MsgContext> = {}): Promise<CommandVerdict> => commands.run(callOf(text, more, ctx));
  return {
    commands,
    run,
    /** The reply to a message. */
    say: async (text: string, more: Partial<CommandCall> = {}, ctx: Partial<MsgContext> = {}): Promise<string> => textOf(await run(text, more, ctx)),
    log,
    errors,
    entry: session.entry,
  };
}

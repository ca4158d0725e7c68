import type { CommandOptions, CommandResult, PluginRuntime, RuntimeConfig, RuntimeLogging, RuntimeSystem } from "../sdk/types/index.ts";
import { createChannel } from "./channel/index.ts";
import { lazily } from "./lazily.ts";
import { createMedia } from "./media/index.ts";
import { pendingMembers, type PendingMember } from "./pending.ts";
import type { RuntimeOwner, RuntimePorts } from "./ports.ts";
import { createSubagent } from "./subagent.ts";
import { createState } from "./state/databases.ts";
import { join } from "node:path";
import type { HostConfig } from "../../protocol/index.ts";
import { isDeepStrictEqual } from "node:util";
import { AppError, messageOf } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";

/** `runtime.system`. */

const MAX_OUTPUT = 16 * 1024 * 1024;

/** Runs a program with what commands inherit of the gateway's environment; a plugin sets the rest by name. A program that is killed is a result, one that is not there an error. */
async function runCommand(argv: readonly string[], options: CommandOptions, env: Readonly<Record<string, string | undefined>>): Promise<CommandResult> {
  const { run } = await import("../../base/spawn.ts");
  const { AppError } = await import("../../base/errors.ts");
  const [command = "", ...args] = argv;
  if (!command) throw new AppError("INVALID_INPUT", "runCommandWithTimeout needs a program: the first of its arguments");
  const base = { signal: null, killed: false, termination: "exit" } as const;
  try {
    const result = await run(command, {
      args,
      env: { ...env, ...options.env },
      timeoutMs: options.timeoutMs,
      maxOutputBytes: MAX_OUTPUT,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.input === undefined ? {} : { input: options.input }),
    });
    return { ...base, ...result };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "TIMEOUT") throw error;
    return { stdout: "", stderr: error.message, code: null, signal: "SIGKILL", killed: true, termination: "timeout" };
  }
}

const APPROVE: Readonly<Record<string, string | undefined>> = { pnpm: "pnpm approve-builds" };
const REBUILD: Readonly<Record<string, string>> = { pnpm: "pnpm rebuild", npm: "npm rebuild", yarn: "yarn rebuild" };

const named = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

function createSystem({ config, queueSystemEvent, wake, canonicalKey, log }: RuntimePorts, owner: RuntimeOwner): RuntimeSystem {
  let queued: Promise<unknown> = Promise.resolve();
  return {
    requestHeartbeat({ reason, agentId, sessionKey } = {}) {
      const key = named(sessionKey);
      const agent = named(agentId)?.toLowerCase();
      const request = {
        reason: `hook:${named(reason) ?? owner.id}`,
        ...(agent === undefined ? {} : { agentId: agent }),
        ...(key === undefined ? {} : { sessionKey: canonicalKey(key, agent) ?? key }),
      };
      // After what the plugin queued before it.
      void queued.then(() => wake(request));
    },
    enqueueSystemEvent(text, { sessionKey, contextKey }) {
      queued = queueSystemEvent({ text, sessionKey, contextKey: contextKey ?? undefined }).catch((error: unknown) =>
        log.warn(`[${owner.id}] a system event was lost: ${messageOf(error)}`, { sessionKey }),
      );
    },
    runCommandWithTimeout: (argv, options) =>
      runCommand(argv, typeof options === "number" ? { timeoutMs: options } : options, inheritedEnvironment(config.env(), config.current.tools?.exec?.passEnv)),
    formatNativeDependencyHint({ packageName, manager = "pnpm", approveBuildsCommand, rebuildCommand, downloadCommand }) {
      const rebuild = rebuildCommand ?? `${REBUILD[manager]} ${packageName}`;
      const steps = [approveBuildsCommand ?? APPROVE[manager], rebuild, downloadCommand].filter((step) => step !== undefined);
      return `${packageName} has a native part that is missing or does not fit this system. Run: ${steps.join(" && ")}`;
    },
  };
}

/** `runtime.logging`. */

function createLogging({ log, verbose }: RuntimePorts, owner: RuntimeOwner): RuntimeLogging {
  return {
    shouldLogVerbose: verbose,
    getChildLogger(bindings) {
      const method = (level: "debug" | "info" | "warn" | "error") => (message: string, meta?: Readonly<Record<string, unknown>>) =>
        log[level](`[${owner.id}] ${message}`, { ...bindings, ...meta });
      return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
    },
  };
}

/** `runtime.config`: the configuration in use, and changes to its file that keep comments and order. */

/** How often a change is made again because the file changed under it. */
const MAX_ATTEMPTS = 5;

function createConfig({ config }: RuntimePorts, owner: RuntimeOwner): RuntimeConfig {
  /** What the plugin was given last: what it writes is compared with that, so that changes of others since then stay. */
  let handedOut = config.current;
  /** A copy: what a plugin does to it changes nothing. */
  const current = (): HostConfig => structuredClone((handedOut = config.current));

  async function write(next: HostConfig, baseHash?: string): Promise<HostConfig> {
    if (typeof next !== "object" || next === null || Array.isArray(next)) throw new AppError("INVALID_INPUT", "the configuration to write must be an object");
    await config.edit(
      { kind: "update", config: next as OpenClawConfig, base: handedOut },
      { by: `plugin ${owner.id}`, baseHash, requireBaseHash: baseHash !== undefined },
    );
    return current();
  }

  return {
    loadConfig: current,
    current,
    async writeConfigFile(next) {
      await write(next);
    },
    async mutateConfigFile({ mutate }) {
      for (let attempt = 1; ; attempt += 1) {
        const { hash } = config.snapshot();
        const draft = current();
        const before = structuredClone(draft);
        const next = (await mutate(draft)) ?? draft;
        if (isDeepStrictEqual(before, next)) return { changed: false, config: before };
        try {
          return { changed: true, config: await write(next, hash) };
        } catch (error) {
          // The file was changed in between: apply the change to the new version.
          if (!(error instanceof AppError) || error.code !== "CONFIG_STALE" || attempt === MAX_ATTEMPTS) throw error;
          config.reload();
        }
      }
    },
    async replaceConfigFile({ nextConfig }) {
      return { changed: true, config: await write(nextConfig) };
    },
  };
}

/** `runtime.agent`, as far as it is about places and names; what runs an agent is pending. */

const idOf = (agentId: string | undefined): string => agentId?.trim().toLowerCase() || "main";

function createAgent({ config, store, canonicalKey }: RuntimePorts, pending: PendingMember): Record<string, unknown> {
  const agentOf = (cfg: HostConfig, agentId: string | undefined) => cfg.agents?.list?.find((entry) => entry.id.toLowerCase() === idOf(agentId));
  return {
    resolveAgentDir: (_cfg: HostConfig, agentId?: string) => join(config.paths.state, "agents", idOf(agentId), "agent"),
    resolveAgentIdentity: (cfg: HostConfig, agentId?: string) => agentOf(cfg, agentId)?.identity,
    session: {
      getSessionEntry: async ({ sessionKey }: { sessionKey: string }) =>
        (await store.read("sessions.get", { key: canonicalKey(sessionKey) ?? sessionKey }))?.entry,
    },
    runCommandFromIngress: pending("agent.runCommandFromIngress"),
    runEmbeddedAgent: pending("agent.runEmbeddedAgent"),
    ensureAgentWorkspace: pending("agent.ensureAgentWorkspace"),
  };
}

/** `api.runtime` of one plugin. Its members work when they are taken off it; what reads files or the network is loaded when it is called. */
export function createPluginRuntime(ports: RuntimePorts, owner: RuntimeOwner): PluginRuntime {
  const pending = pendingMembers(ports.parts);
  return lazily<PluginRuntime>({
    version: () => ports.version,
    config: () => createConfig(ports, owner),
    system: () => createSystem(ports, owner),
    media: () => createMedia(),
    tts: () => ({
      textToSpeechTelephony: pending("tts.textToSpeechTelephony"),
      textToSpeech: pending("tts.textToSpeech"),
      textToSpeechStream: pending("tts.textToSpeechStream"),
      prepareTtsRequest: pending("tts.prepareTtsRequest"),
    }),
    tools: () => ({
      createMemoryGetTool: pending("tools.createMemoryGetTool"),
      createMemorySearchTool: pending("tools.createMemorySearchTool"),
      registerMemoryCli: pending("tools.registerMemoryCli"),
    }),
    channel: () => createChannel(ports, pending, owner),
    logging: () => createLogging(ports, owner),
    state: () => createState(ports, owner, pending),
    agent: () => createAgent(ports, pending),
    llm: () => ({ complete: pending("llm.complete") }),
    subagent: () =>
      ports.subagents
        ? createSubagent(ports, ports.subagents(owner), owner)
        : {
            run: pending("subagent.run"),
            waitForRun: pending("subagent.waitForRun"),
            getSessionMessages: pending("subagent.getSessionMessages"),
            deleteSession: pending("subagent.deleteSession"),
            complete: pending("subagent.complete"),
          },
    mediaUnderstanding: () => ({ transcribeAudioFile: pending("mediaUnderstanding.transcribeAudioFile") }),
    gateway: () => ({ isAvailable: () => ports.parts?.["gateway.request"] !== undefined, request: pending("gateway.request") }),
  });
}

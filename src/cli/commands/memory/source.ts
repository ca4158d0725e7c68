import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import type { Logger } from "../../../base/log/logger.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { agentFolder, agentWorkspaces, defaultAgentId, mainAgentFolder, oauthFolder, type Config } from "../../../config/index.ts";
import type { Memory, MemoryDeps } from "../../../memory/index.ts";
import { loadChoice, loadProfiles } from "../../../models/index.ts";
import type { MethodName, MethodParams, MethodResult } from "../../../protocol/index.ts";
import type { Store } from "../../../store/index.ts";
import type { Values } from "../../command.ts";
import { connectTo, GATEWAY_OPTIONS, timeoutOf } from "../../gateway-call.ts";
import { findTarget, openForReading } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";

/** Indexing and removing may take long. */
const TIMEOUT_MS = 600_000;

export const MEMORY_OPTIONS = {
  ...GATEWAY_OPTIONS,
  timeout: { type: "string", value: "ms", help: `Time to wait for the gateway, in ms (default ${TIMEOUT_MS})` },
  agent: { type: "string", value: "id", help: "Agent (default: the default agent)" },
} as const;
/** Of commands that look at every agent. */
export const ALL_AGENTS_OPTIONS = { ...MEMORY_OPTIONS, agent: { type: "string", value: "id", help: "Agent (default: all)" } } as const;
export type MemoryFlags = Values<typeof MEMORY_OPTIONS>;

type MemoryMethod = Extract<MethodName, `memory.${string}`>;

/** What agents know: from the gateway that runs, or from the state folder while none does. */
export interface MemorySource {
  readonly via: "gateway" | "state folder";
  call<M extends MemoryMethod>(method: M, params: MethodParams<M>): Promise<MethodResult<M>>;
}

export const agentOf = ({ agent }: MemoryFlags): { readonly agentId?: string } => (agent === undefined ? {} : { agentId: agent });

const warnings = (io: Io): Logger => ({ ...silentLogger, warn: (message) => io.err(`${message}\n`), error: (message) => io.err(`${message}\n`) });

interface OpenState extends AsyncDisposable {
  readonly config: Config;
  readonly memory: Memory;
  readonly workspaceOf: (agentId: string) => string;
  readonly agentId: string;
}

/** Transcripts that are only there as files are taken into the database first, as a gateway would. */
async function importFirst(stateDir: string): Promise<void> {
  if (!existsSync(join(stateDir, "agents"))) return;
  const { openStore } = await import("../../../store/index.ts");
  await using store = await openStore({ stateDir, clock: systemClock });
  await store.imported();
}

/** Keys for embeddings, found as the gateway finds them: auth profiles, the environment and `models.providers`. */
function embeddingAuth(io: Io, config: Config): NonNullable<MemoryDeps["auth"]> {
  const redactor = createRedactor();
  const context = { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd };
  return async (agentId) => {
    const [{ createAuthProfiles }, { keyVariables, canonicalProvider }] = await Promise.all([loadProfiles(), loadChoice()]);
    const mainAgentDir = mainAgentFolder(context);
    const listed = config.current.agents?.list?.find(({ id }) => id.trim().toLowerCase() === agentId);
    return createAuthProfiles({
      agentDir: listed === undefined ? mainAgentDir : agentFolder(context, listed),
      mainAgentDir,
      config: () => config.current,
      env: config.env,
      clock: systemClock,
      ids: createIds(systemRandom),
      log: silentLogger,
      redactor,
      envNames: keyVariables,
      canonical: canonicalProvider,
      oauthFile: join(oauthFolder(context), "oauth.json"),
      secret: config.resolveSecret,
      home: config.paths.home,
      version: io.version,
    });
  };
}

/** Opens the memory of a state folder in this process. `fresh`: also transcripts that no gateway has seen yet. */
export async function openState(io: Io, flags: MemoryFlags, options: { readonly fresh: boolean }): Promise<OpenState> {
  await using stack = new AsyncDisposableStack();
  const config = stack.use(await openForReading(io));
  const isNew = !existsSync(join(config.paths.state, "openclaw.db"));
  if (options.fresh || isNew) await importFirst(config.paths.state);
  const workspaceOf = agentWorkspaces(config, io.env);
  const { createMemory } = await import("../../../memory/index.ts");
  const memory = stack.use(
    createMemory({
      config,
      clock: systemClock,
      log: warnings(io),
      home: config.paths.home,
      workspaceOf,
      auth: embeddingAuth(io, config),
      version: io.version,
    }),
  );
  const agentId = knownAgent(flags.agent, config);
  const kept = stack.move();
  return { config, memory, workspaceOf, agentId, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** The agent that is named, by its one spelling. */
function knownAgent(named: string | undefined, config: Config): string {
  const usual = defaultAgentId(config.current);
  if (named === undefined) return usual;
  const known = [...new Set([usual, ...(config.current.agents?.list ?? []).map((agent) => agent.id.trim().toLowerCase())])];
  const id = named.trim().toLowerCase();
  if (known.includes(id)) return id;
  throw new AppError("INVALID_INPUT", `unknown agent id "${named.slice(0, 80)}"; there ${known.length === 1 ? "is" : "are"} ${known.join(", ")}`);
}

/** Refuses what a command does not take, instead of ignoring it. */
export function refuseMore(positionals: readonly string[], hint: string): void {
  if (positionals.length > 0) throw new AppError("INVALID_INPUT", `unexpected ${JSON.stringify(positionals[0])}; ${hint}`);
}

async function onDisk<T>(io: Io, flags: MemoryFlags, fresh: boolean, use: (source: MemorySource) => Promise<T>): Promise<T> {
  await using state = await openState(io, flags, { fresh });
  const { config, memory, workspaceOf } = state;
  const [{ createFileVersions, createForgetting, createNotebook }, { memoryHandlers, ownCaller }] = await Promise.all([
    import("../../../memory/index.ts"),
    import("../../../gateway/index.ts"),
  ]);
  await using stack = new AsyncDisposableStack();
  const ids = createIds(systemRandom);
  const stateDir = config.paths.state;
  const notes = createNotebook({ clock: systemClock, ids, stateDir, workspaceOf, changed: memory.notesChanged });
  const versions = createFileVersions({ clock: systemClock, ids, log: warnings(io), stateDir });
  let opened: Promise<Store> | undefined;
  const store = (): Promise<Store> =>
    (opened ??= import("../../../store/index.ts").then(async ({ openStore }) => stack.use(await openStore({ stateDir, clock: systemClock }))));
  const forgetting = {
    forget: async (...args: Parameters<ReturnType<typeof createForgetting>["forget"]>) =>
      createForgetting({ memory, notes, versions, store: await store(), clock: systemClock, log: warnings(io), stateDir, workspaceOf }).forget(...args),
  };
  const handlers = memoryHandlers({ config, memory: { memory, notes, forgetting, workspaceOf } });
  return await use({ via: "state folder", call: ownCaller(() => handlers, "cli") });
}

/** Uses the gateway if one runs, else the state folder. */
export async function withMemory<T>(
  io: Io,
  flags: MemoryFlags,
  use: (source: MemorySource) => Promise<T>,
  options: { readonly fresh?: boolean } = {},
): Promise<T> {
  const target = await findTarget(io, flags);
  const hasCredentials = flags.token !== undefined || flags.password !== undefined;
  if (target.kind !== "local" || target.holder || hasCredentials) {
    try {
      await using client = await connectTo(io, target, timeoutOf(flags, TIMEOUT_MS));
      return await use({ via: "gateway", call: (method, params) => client.request(method, params) });
    } catch (error) {
      const isSilent = error instanceof AppError && (error.code === "UNAVAILABLE" || error.code === "TIMEOUT") && error.details["protocolCode"] === undefined;
      if (!isSilent || target.kind !== "local" || hasCredentials) throw error;
      io.err(`process ${target.holder?.pid} does not answer. Showing data from its state folder\n`);
    }
  }
  return onDisk(io, flags, options.fresh ?? false, use);
}

/** A whole number of a flag. */
export function numberOf(
  name: string,
  value: string | undefined,
  { least, most, whole }: { readonly least: number; readonly most: number; readonly whole: boolean },
): number | undefined {
  if (value === undefined) return undefined;
  const number = value.trim() === "" ? Number.NaN : Number(value);
  if (number >= least && number <= most && (!whole || Number.isInteger(number))) return number;
  throw new AppError("INVALID_INPUT", `--${name} takes a ${whole ? "whole " : ""}number from ${least} to ${most}, not "${value}"`);
}

import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { isRecord } from "../../base/records.ts";
import type { Config, OpenClawConfig } from "../../config/index.ts";
import type { Memory } from "../../memory/index.ts";
import type { AnyAgentTool } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { createMarkUntrusted, isSessionSandboxed, memoryGetTool, memorySearchTool } from "../../tools/index.ts";
import type { PendingParts } from "./pending.ts";

export interface MemoryPartsDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read">;
  readonly ids: Pick<Ids, "hex">;
  readonly canonicalKey: (written: string) => string | undefined;
  readonly agentOf: (sessionKey: string) => string;
  /** What agents know, once it is there; absent where there is no gateway, as on the command line. */
  readonly memory?: (() => Memory | undefined) | undefined;
  /** Runs `openclaw memory` with arguments and gives its exit code; absent in the gateway. */
  readonly memoryCommand?: ((args: readonly string[]) => Promise<number>) | undefined;
}

/** Plugins also give the configuration that they were given; the one in use counts. */
interface ToolOptions {
  readonly agentSessionKey?: string | undefined;
}

/** Whether an agent's memory may be searched; that another plugin has the memory slot does not keep it from using ours. */
function isSearched(config: OpenClawConfig, agentId: string): boolean {
  const own = config.agents?.list?.find(({ id }) => id.trim().toLowerCase() === agentId)?.memorySearch?.enabled;
  return (own ?? config.agents?.defaults?.memorySearch?.enabled ?? true) && config.plugins?.slots?.memory !== "none";
}

/** One of our memory tools as a plugin may register it, for one session; null where there is no memory to look into. */
function toolFor(declared: typeof memorySearchTool, deps: MemoryPartsDeps, { agentSessionKey }: ToolOptions = {}): AnyAgentTool | null {
  const written = agentSessionKey?.trim() || "main";
  const sessionKey = deps.canonicalKey(written) ?? written;
  const agentId = deps.agentOf(sessionKey);
  if (!deps.memory || !isSearched(deps.config.current, agentId)) return null;
  const { name, description, parameters, label = name } = declared;
  return {
    name,
    label,
    description: typeof description === "string" ? description : name,
    parameters,
    executionMode: "parallel",
    async execute(toolCallId, params, signal = new AbortController().signal) {
      const memory = deps.memory?.();
      if (!memory) throw new AppError("UNAVAILABLE", "the gateway is starting: there is no memory yet; try again in a moment");
      const { current } = deps.config;
      const run = declared.run({
        memory,
        config: () => deps.config.current,
        store: deps.store,
        isSandboxed: (session) => isSessionSandboxed(current, session.agentId, session.sessionKey),
        mark: createMarkUntrusted(deps.ids),
      });
      const sessionId = (await deps.store.read("sessions.get", { key: sessionKey }))?.entry.sessionId ?? "";
      const context = { agentId, sessionKey, sessionId, runId: toolCallId, workspaceDir: "", owner: false };
      const outcome = await run({ id: toolCallId, params: isRecord(params) ? params : {}, signal, update: () => {}, context });
      return { content: [...outcome.content], details: outcome.details };
    },
  };
}

/** The part of `commander` that is needed to add a command. */
interface Program {
  readonly commands?: readonly { name(): string }[];
  command(name: string): Program;
  description(text: string): Program;
  allowUnknownOption(): Program;
  helpOption(flag: boolean): Program;
  argument(text: string): Program;
  action(run: (args: readonly string[]) => Promise<void>): Program;
}

const isProgram = (value: unknown): value is Program => isRecord(value) && "command" in value && typeof value["command"] === "function";

/** Adds `memory`, which passes everything on to our own command of that name. A program that has it keeps its own. */
function registerMemoryCli(program: unknown, { memoryCommand }: MemoryPartsDeps): void {
  if (!isProgram(program)) throw new AppError("INVALID_INPUT", "runtime.tools.registerMemoryCli takes the program that api.registerCli received");
  if (program.commands?.some((command) => command.name() === "memory")) return;
  program
    .command("memory")
    .description("Search, evaluate and delete agent memory")
    .allowUnknownOption()
    .helpOption(false)
    .argument("[args...]")
    .action(async (args) => {
      if (!memoryCommand) throw new AppError("UNAVAILABLE", "commands run in a terminal: openclaw memory");
      process.exitCode = await memoryCommand(args);
    });
}

/** `runtime.tools`: the memory as plugins have it. */
export function memoryParts(deps: MemoryPartsDeps): PendingParts {
  return {
    "tools.createMemorySearchTool": (options: ToolOptions) => toolFor(memorySearchTool, deps, options),
    "tools.createMemoryGetTool": (options: ToolOptions) => toolFor(memoryGetTool, deps, options),
    "tools.registerMemoryCli": (program: unknown) => registerMemoryCli(program, deps),
  };
}

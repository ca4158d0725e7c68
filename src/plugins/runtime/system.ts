/** `runtime.system`. */
import { messageOf } from "../../base/errors.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";
import type { CommandOptions, CommandResult, RuntimeSystem } from "../sdk/types/index.ts";
import type { RuntimeOwner, RuntimePorts } from "./ports.ts";

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

export function createSystem({ config, queueSystemEvent, log }: RuntimePorts, owner: RuntimeOwner): RuntimeSystem {
  return {
    enqueueSystemEvent(text, { sessionKey, contextKey }) {
      queueSystemEvent({ text, sessionKey, contextKey: contextKey ?? undefined }).catch((error: unknown) =>
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

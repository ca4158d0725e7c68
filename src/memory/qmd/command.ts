import { join } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";
import { run } from "../../base/spawn.ts";
import type { Env } from "../../config/index.ts";
import type { QmdSettings } from "./settings.ts";

/** Runs the program. Throws `UNAVAILABLE` when it fails, `NOT_FOUND` when it is not installed, `TIMEOUT` when it takes too long. */
export type RunQmd = (args: readonly string[], timeoutMs: number) => Promise<string>;

/** Its end cancels what runs, and waits for it. */
export interface QmdProgram extends AsyncDisposable {
  readonly run: RunQmd;
  readonly isClosed: boolean;
}

const MAX_OUTPUT = 8 * 1024 * 1024;
const SHOWN = 300;

/** The program with a home of its own: its index is that of this agent alone. */
export function createQmdProgram({ command, home }: QmdSettings, env: () => Env, cwd: string): QmdProgram {
  const ending = new AbortController();
  const running = new Set<Promise<string>>();

  async function runOnce(args: readonly string[], timeoutMs: number): Promise<string> {
    const { code, stdout, stderr } = await run(command, {
      args,
      cwd,
      env: { ...inheritedEnvironment(env()), XDG_CONFIG_HOME: join(home, "xdg-config"), XDG_CACHE_HOME: join(home, "xdg-cache"), NO_COLOR: "1" },
      timeoutMs,
      maxOutputBytes: MAX_OUTPUT,
      signal: ending.signal,
    });
    if (code === 0) return stdout;
    const said = (stderr.trim() || stdout.trim()).slice(0, SHOWN);
    throw new AppError("UNAVAILABLE", `${command} ${args[0] ?? ""} ended with code ${code}${said === "" ? "" : `: ${said}`}`, { details: { code } });
  }

  return {
    run(args, timeoutMs) {
      const result = runOnce(args, timeoutMs).finally(() => running.delete(result));
      running.add(result);
      return result;
    },
    get isClosed() {
      return ending.signal.aborted;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Searches. Some versions of the program know fewer options in some modes; `query` knows them all. */
export async function askQmd({ searchMode, limits }: QmdSettings, run: RunQmd, query: string, count: number): Promise<string> {
  const args = (mode: string): readonly string[] => [mode, query, "--json", "-n", String(count)];
  try {
    return await run(args(searchMode), limits.timeoutMs);
  } catch (error) {
    if (searchMode === "query" || !/unknown (?:flag|option|argument)|unrecognized|unexpected argument|invalid option/i.test(messageOf(error))) throw error;
    return await run(args("query"), limits.timeoutMs);
  }
}

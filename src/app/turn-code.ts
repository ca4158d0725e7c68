import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import { loadBrowserTool } from "../browser/index.ts";
import { loadCron, loadHeartbeat, loadSubagents, loadWebhooks } from "../automation/index.ts";
import { loadTurnCode } from "../conversation/index.ts";
import { loadGatewayTool, loadHttpTurns } from "../gateway/index.ts";
import { loadCallCode } from "../models/index.ts";

/** How long loading is tried again: descriptors may run out for a while, a disk may be away. */
const PAUSES_MS = [100, 500, 1000, 2000, 4000, 8000, 15_000, 30_000];

/** Everything that messages, commands and answers load. `test/e2e/missing-code.test.ts` fails when something is missing here. */
const CODE: readonly (() => Promise<unknown>)[] = [
  loadTurnCode,
  loadCallCode,
  loadHttpTurns,
  loadGatewayTool,
  loadCron,
  loadHeartbeat,
  loadWebhooks,
  loadSubagents,
  loadBrowserTool,
  async () => (await import("../agent/index.ts")).loadWorkspaceCode(),
  () => import("./open-agent.ts"),
  () => import("./command-ports.ts"),
];

export interface TurnCodeDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called once, when everything is loaded. */
  readonly loaded: () => void;
  /** The code cannot be loaded: the process has to end, and be started again. */
  readonly failed: (message: string) => void;
}

export interface TurnCode {
  /** Resolves when everything a turn needs is loaded; begins with it at the first call. */
  ready(): Promise<void>;
  /** What is wrong, while it is. */
  problems(): readonly string[];
}

/**
 * Loads what turns need before the first of them begins. Afterwards a turn opens none of the program's files: neither a lack of descriptors nor a program
 * that is replaced while it runs can break it.
 */
export function createTurnCode(deps: TurnCodeDeps): TurnCode {
  let loading: Promise<void> | undefined;
  let problem: string | undefined;

  async function load(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        for (const part of CODE) {
          await part();
          // Requests are answered between two parts.
          await new Promise((resolve) => setImmediate(resolve));
        }
        deps.log[problem === undefined ? "debug" : "info"]("the code that turns need is loaded");
        problem = undefined;
        return deps.loaded();
      } catch (error) {
        problem = `messages wait: the program's own code could not be loaded: ${messageOf(error)}`;
        const pause = PAUSES_MS[attempt];
        if (pause === undefined) return deps.failed(`${problem}; check that its folder is complete and that enough files may be opened (ulimit -n)`);
        deps.log.error(problem, { attempt: attempt + 1, nextInMs: pause });
        await new Promise<void>((resolve) => void deps.clock.after(pause, resolve));
      }
    }
  }

  return { ready: () => (loading ??= load()), problems: () => (problem === undefined ? [] : [problem]) };
}

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config } from "../../config/index.ts";
import type { ReplyAddress } from "../../conversation/index.ts";
import { queueSystemEvent } from "../../gateway/index.ts";
import type { Store } from "../../store/index.ts";
import type { ShownOutput, ToolContext } from "../../tools/index.ts";
import type { FollowUps } from "./exec-follow-up.ts";

/** What is kept with a question, so that its session can go on where it was asked, also after a restart. */
export interface Origin {
  readonly sessionId?: string;
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
  readonly senderId?: string | undefined;
  readonly owner?: boolean;
  readonly reply?: ReplyAddress | undefined;
}

/** Where a turn's caller is. */
export function originOf({ sessionId, channel, accountId, senderId, owner }: ToolContext, reply: ReplyAddress | undefined): Readonly<Record<string, unknown>> {
  return { sessionId, channel, accountId, senderId, owner, reply } satisfies Origin;
}

/** What is older than this is not taken up again. */
const TAKEN_UP_MS = 24 * 60 * 60_000;

/** Tells of the commands that processes before this one left behind. Gives how many there were. `endFormer` ends questions that nobody can answer any more. */
export async function takeUpCommands(
  store: Pick<Store, "read">,
  startedAt: number,
  followUps: () => Promise<FollowUps>,
  endFormer: () => Promise<unknown>,
): Promise<number> {
  const rows = await store.read("approvals.unreported", { kind: "exec", since: startedAt - TAKEN_UP_MS, before: startedAt });
  if (rows.some(({ state }) => state === "pending")) await endFormer();
  if (rows.length > 0) await (await followUps()).takeUp(rows, startedAt);
  return rows.length;
}

/** Where running commands are recorded. */
export const commandsFolder = (stateDir: string): string => join(stateDir, "commands");

/** Ends the commands that a killed gateway left running, and notifies their sessions. Only looks into a folder when there are none. */
export async function endLeftCommands({ config, clock, log, ...deps }: LeftCommandsDeps): Promise<void> {
  const folder = commandsFolder(config.paths.state);
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return;
  const { endFormerCommands } = await import("./left-commands.ts");
  await endFormerCommands({ folder, clock, log, announce: (event) => queueSystemEvent({ ...deps, config }, event) });
}

interface LeftCommandsDeps {
  readonly config: Config;
  readonly store: Store;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What commands that were asked about write while they run. */
export interface RunningCommands {
  /** Called by what runs one. */
  show(id: string, sessionKey: string, tail: () => string): ShownOutput;
  /** The end of what a command has written so far; undefined when it does not run here. */
  output(id: string): string | undefined;
  onOutput(listener: (sessionKey: string) => void): Disposable;
}

export function createRunningCommands(): RunningCommands {
  const tails = new Map<string, () => string>();
  const listeners = new Set<(sessionKey: string) => void>();
  return {
    show(id, sessionKey, tail) {
      tails.set(id, tail);
      return {
        changed() {
          for (const listener of listeners) listener(sessionKey);
        },
        [Symbol.dispose]: () => void tails.delete(id),
      };
    },
    output: (id) => tails.get(id)?.(),
    onOutput(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ReplyAddress } from "../address.ts";
import type { Store } from "../../store/index.ts";
import { loadFormerCommands, type ShownOutput, type ToolContext } from "../../tools/index.ts";
import type { FollowUps } from "./follow-up.ts";

/** Stored with a question, so that its session can continue where it was asked, also after a restart. */
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

/** Older commands are not resumed. */
const TAKEN_UP_MS = 24 * 60 * 60_000;

/** Notifies sessions about commands that earlier processes left behind. Returns how many. `endFormer` ends questions that nobody can answer any more. */
export async function takeUpCommands(
  store: Pick<Store, "read">,
  startedAt: number,
  followUps: () => Promise<FollowUps>,
  endFormer: () => Promise<unknown>,
): Promise<number> {
  const rows = await store.read("approvals.unreported", { kind: "exec", since: startedAt - TAKEN_UP_MS, before: startedAt });
  if (rows.some(({ state }) => state === "pending")) await endFormer();
  // What an operator asked for on the command line belongs to no session.
  const ofSessions = rows.filter(({ sessionKey }) => sessionKey !== null);
  if (ofSessions.length > 0) await (await followUps()).takeUp(ofSessions, startedAt);
  return ofSessions.length;
}

/** Where running commands are recorded. */
export const commandsFolder = (stateDir: string): string => join(stateDir, "commands");

/** Ends the commands that a killed gateway left running, and notifies their sessions. Only reads a folder when there are none. */
export async function endLeftCommands({ stateDir, clock, log, announce }: LeftCommandsDeps): Promise<void> {
  const folder = commandsFolder(stateDir);
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return;
  const { endFormerCommands } = await loadFormerCommands();
  await endFormerCommands({ folder, clock, log, announce });
}

interface LeftCommandsDeps {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Queues a text for the next turn of a session; durable when it resolves. */
  readonly announce: (event: { readonly sessionKey: string; readonly text: string; readonly idempotencyKey: string }) => Promise<unknown>;
}

/** The output of approved commands while they run. */
export interface RunningCommands {
  /** Called by the tool that runs a command. */
  show(id: string, sessionKey: string, tail: () => string): ShownOutput;
  /** The tail of a command's output so far; undefined when it does not run here. */
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

import { rmSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRunning } from "../../base/process-identity.ts";
import { formerCommands, type CommandRecord } from "./command-records.ts";
import { terminalSignals } from "./terminal-session.ts";

/** SIGKILL follows SIGTERM after this long. */
const KILL_AFTER_MS = 3000;

export interface FormerCommandsDeps {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Notifies the next turn of a session; durable when it resolves. */
  readonly announce: (event: { readonly sessionKey: string; readonly text: string; readonly idempotencyKey: string }) => Promise<unknown>;
}

/**
 * Ends the commands that still run because the gateway which started them was killed, and notifies the sessions whose background commands they were.
 * Gives how many still ran. Does not wait for those that take their time to end.
 */
export async function endFormerCommands({ folder, clock, log, announce }: FormerCommandsDeps): Promise<number> {
  let ended = 0;
  for (const { path, record } of formerCommands(folder)) {
    try {
      if (record && isSame(record)) {
        ended += 1;
        end(record, clock);
      }
      if (record?.announced === true) await announce(announcement(record));
      rmSync(path, { force: true });
    } catch (error) {
      log.warn(`a command of the previous gateway process could not be cleaned up: ${messageOf(error)}`, { path });
    }
  }
  if (ended > 0) log.info(`${ended} commands of the previous gateway process were still running and were ended`);
  return ended;
}

/** Process ids are reused: only the process with the recorded start time is ours. Where the start time is unknown, nothing is ended. */
function isSame({ process }: CommandRecord): boolean {
  return process.startTime !== undefined && process.bootId !== undefined && isRunning(process);
}

function end(record: CommandRecord, clock: Clock): void {
  const { pid } = record.process;
  const signalGroup = (name: "SIGTERM" | "SIGKILL"): boolean => {
    try {
      return process.kill(-pid, name);
    } catch {
      return false;
    }
  };
  const signal = record.terminal ? terminalSignals({ pid, signal: signalGroup }) : signalGroup;
  signal("SIGTERM");
  clock.after(KILL_AFTER_MS, () => isSame(record) && signal("SIGKILL"));
}

const announcement = ({ id, command, sessionKey, process: { pid, startTime, bootId } }: CommandRecord) => ({
  sessionKey,
  text: `Exec interrupted (${id}, outcome-unknown: the gateway was killed while it ran): ${command}`,
  idempotencyKey: `interrupted-command:${bootId}:${pid}:${startTime}`,
});

import { isRecord } from "../../base/records.ts";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { identify, type ProcessIdentity } from "../../base/process-identity.ts";

/** A command that runs, in a file that outlives a gateway that is killed. */
export interface CommandRecord {
  readonly id: string;
  readonly process: ProcessIdentity;
  /** The gateway that started it. */
  readonly gateway: ProcessIdentity;
  readonly sessionKey: string;
  readonly command: string;
  /** It holds a terminal for the command, which is a session of its own. */
  readonly terminal: boolean;
  /** It runs in the background, and its session is to be notified of its end. */
  readonly announced: boolean;
}

export interface RunningRecord extends Disposable {
  /** It was left in the background, and its session is to be notified of its end. */
  announce(): void;
}

/** Records which commands run, so that the next gateway can end what a killed one left behind. */
export interface CommandRecords {
  add(command: Pick<CommandRecord, "id" | "sessionKey" | "command" | "terminal"> & { readonly pid: number }): RunningRecord;
}

const MOST_COMMAND_CHARS = 500;

/**
 * One file for each running command below `folder`. Written at once but not synced: what a killed process has written is still there, and after a power
 * failure no command runs any more. A file that cannot be written is reported and does not keep the command from running.
 */
export function createCommandRecords({ folder, redact, warn }: CommandRecordsDeps): CommandRecords {
  const gateway = identify(process.pid);
  return {
    add({ pid, command, ...given }) {
      const path = join(folder, `${pid}.json`);
      const record: CommandRecord = { ...given, command: redact(command.slice(0, MOST_COMMAND_CHARS)), process: identify(pid), gateway, announced: false };
      write(path, record);
      return {
        announce: () => write(path, { ...record, announced: true }),
        [Symbol.dispose]: () => rmSync(path, { force: true }),
      };
    },
  };

  function write(path: string, record: CommandRecord): void {
    try {
      try {
        writeFileSync(path, JSON.stringify(record), { mode: 0o600 });
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw error;
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(path, JSON.stringify(record), { mode: 0o600 });
      }
    } catch (error) {
      warn(`a running command could not be recorded; it would outlive a gateway that is killed: ${String(error)}`);
    }
  }
}

export interface CommandRecordsDeps {
  readonly folder: string;
  readonly redact: (text: string) => string;
  readonly warn: (text: string) => void;
}

/** What a gateway before this one recorded, each with its file. A file that cannot be read has no record. */
export function formerCommands(folder: string): readonly { readonly path: string; readonly record: CommandRecord | undefined }[] {
  const own = identify(process.pid);
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const record = readRecord(path);
    return record?.gateway.pid === own.pid && record.gateway.startTime === own.startTime ? [] : [{ path, record }];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

function isWhole(found: unknown): found is CommandRecord {
  if (!isRecord(found) || !isRecord(found["process"]) || typeof found["sessionKey"] !== "string" || typeof found["command"] !== "string") return false;
  const { pid } = found["process"];
  return typeof pid === "number" && Number.isInteger(pid) && pid > 1;
}

function readRecord(path: string): CommandRecord | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isWhole(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

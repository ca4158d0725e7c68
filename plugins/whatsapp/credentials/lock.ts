/** Two connections with the same credentials destroy each other's sessions: one process, and one use in it, has them. */
import { readFile, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { ChannelError, jsonOf } from "openclaw/plugin-sdk/channel-kit";
import { acquireFileLock } from "openclaw/plugin-sdk/file-lock";

const REFRESH_MS = 20_000;
const STALE_MS = 90_000;
const RETRIES = { retries: 3, factor: 2, minTimeout: 100, maxTimeout: 400 };

export interface CredentialLock {
  release(): Promise<void>;
}

export interface CredentialLocks {
  /** Rejects where another use has the folder. */
  take(folder: string): Promise<CredentialLock>;
}

const inUse = (folder: string, by: string): ChannelError =>
  new ChannelError(
    `the WhatsApp credentials in ${folder} are used by ${by}; stop it first (openclaw channels stop --channel whatsapp), since two connections with one login break each other`,
    { action: "start", delivery: { state: "retry" }, code: "LOCKED" },
  );

export function createCredentialLocks(): CredentialLocks {
  const held = new Set<string>();
  return {
    async take(folder) {
      if (held.has(folder)) throw inUse(folder, "this process");
      held.add(folder);
      const path = join(folder, "creds.json");
      try {
        // A process in a container often has the number of the one before it: its lock is not ours.
        const left = jsonOf(await readFile(`${path}.lock`, "utf8").catch(() => "")) as { pid?: unknown } | undefined;
        if (left?.pid === process.pid) await rm(`${path}.lock`, { force: true });
        const lock = await acquireFileLock(path, { retries: RETRIES, stale: STALE_MS });
        const timer = setInterval(() => void utimes(lock.lockPath, new Date(), new Date()).catch(() => {}), REFRESH_MS);
        timer.unref();
        return {
          async release() {
            clearInterval(timer);
            await lock.release();
            held.delete(folder);
          },
        };
      } catch (error) {
        held.delete(folder);
        if ((error as { code?: unknown }).code === "LOCKED") throw inUse(folder, "another process");
        throw error;
      }
    },
  };
}

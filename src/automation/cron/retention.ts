/** Removes the sessions of jobs that are gone, after `cron.sessionRetention`. Their transcripts stay. */
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { defaultAgentId, parseDuration, type Config } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";

export interface RetentionDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Removes a session and leaves its transcript. */
  readonly removeSession: (key: string) => Promise<unknown>;
}

export interface Retention {
  /** Looks for old sessions, at most every five minutes. Resolves when they are removed; it does not reject. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const PAUSE_MS = 300_000;
const PAGE = 200;

export function createRetention({ config, store, clock, log, removeSession }: RetentionDeps): Retention {
  let sweptAt: number | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  let isClosed = false;

  /** Sessions of jobs, by agent, that were used last before `limit`. */
  async function oldSessions(limit: number): Promise<readonly string[]> {
    const { agents } = config.current;
    const ids = new Set([defaultAgentId(config.current), ...(agents?.list ?? []).map(({ id }) => id.toLowerCase())]);
    const found: string[] = [];
    for (const id of ids) {
      for (let offset = 0; ; offset += PAGE) {
        const { rows } = await store.read("sessions.list", { keyPrefix: `agent:${id}:cron:`, order: "oldest", limit: PAGE, offset });
        const old = rows.filter(({ entry }) => (entry.updatedAt ?? 0) < limit);
        found.push(...old.map(({ key }) => key));
        if (old.length < PAGE) break;
      }
    }
    return found;
  }

  async function removeOld(ageMs: number): Promise<void> {
    const old = await oldSessions(clock.now() - ageMs);
    if (old.length === 0) return;
    const jobs = new Set((await store.read("cron.job.list", {})).map(({ id }) => id));
    for (const key of old) {
      const [, , , jobId = "", ...run] = key.split(":");
      // The session of a job that still runs now and then stays; entries for single runs, which other programs write, go.
      if (isClosed || (run.length === 0 && jobs.has(jobId))) continue;
      await removeSession(key);
      log.debug("the session of a deleted job was removed", { sessionKey: key });
    }
  }

  return {
    async sweep() {
      const { sessionRetention = "24h" } = config.current.cron ?? {};
      const ageMs = sessionRetention === false ? undefined : (parseDuration(sessionRetention, "h") ?? DAY_MS);
      const now = clock.now();
      if (isClosed || ageMs === undefined || (sweptAt !== undefined && Math.abs(now - sweptAt) < PAUSE_MS)) return;
      sweptAt = now;
      sweeping = sweeping
        .then(() => removeOld(ageMs))
        .catch((error: unknown) => log.warn(`old sessions of scheduled jobs could not be removed: ${messageOf(error)}`));
      await sweeping;
    },
    async close() {
      isClosed = true;
      await sweeping;
    },
  };
}

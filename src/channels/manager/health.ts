import type { ChannelAccountSnapshot } from "../../protocol/index.ts";
import { formatDuration } from "../../base/text.ts";
import type { AccountState } from "./types.ts";

/** An account may be without a connection this long before somebody should look. */
const PATIENCE_MS = 30_000;

export interface Judgement {
  readonly state: AccountState;
  /** Empty when there is nothing to say. */
  readonly why: string;
}

/** What is known of a connection that runs. Times are of one clock. */
export interface RunFacts {
  readonly now: number;
  readonly startedAt: number;
  readonly snapshot: Pick<ChannelAccountSnapshot, "connected" | "lastError" | "receiving">;
  /** When it was last connected, in this run. */
  readonly upAt: number | undefined;
  /** When it said that it is not connected. */
  readonly lostAt: number | undefined;
  /** When something of the platform last arrived, in this run. */
  readonly heardAt: number | undefined;
  /** The plugin has said something, in this run. */
  readonly spoke: boolean;
  /** The platform is heard of at least this often, where the channel says so. */
  readonly staleAfterMs: number | undefined;
}

/** A connection is well when its transport says so and, where that can be known, something came through it. */
export function judgeRun(facts: RunFacts): Judgement {
  const { now, startedAt, snapshot, upAt, lostAt, heardAt, spoke, staleAfterMs } = facts;
  if (snapshot.connected === false) {
    const since = now - (lostAt ?? startedAt);
    const cause = snapshot.lastError ? `: ${snapshot.lastError}` : "";
    // Another program has the account: waiting does not help.
    if (snapshot.receiving?.state === "conflict") return { state: "degraded", why: `not receiving${cause}` };
    if (since > PATIENCE_MS) return { state: "degraded", why: `not connected for ${formatDuration(since)}${cause}` };
    return { state: upAt === undefined ? "starting" : "ok", why: `not connected${cause}` };
  }
  const quiet = now - (heardAt ?? startedAt);
  if (staleAfterMs !== undefined && quiet > staleAfterMs) return { state: "degraded", why: `connected, but nothing came for ${formatDuration(quiet)}` };
  // One that never speaks of its connection cannot be told from one that is well.
  const silent = snapshot.connected === undefined && !spoke && heardAt === undefined;
  return { state: silent && now - startedAt <= PATIENCE_MS ? "starting" : "ok", why: "" };
}

import type { ChannelAccountSnapshot } from "../../protocol/index.ts";
import { formatDuration } from "../../base/text.ts";
import type { AccountState } from "./types.ts";

/** An account may be disconnected this long before it counts as degraded. */
const PATIENCE_MS = 30_000;

export interface Judgement {
  readonly state: AccountState;
  /** Empty when there is nothing to report. */
  readonly why: string;
}

/** Facts about a running connection. Times are of one clock. */
export interface RunFacts {
  readonly now: number;
  readonly startedAt: number;
  readonly snapshot: Pick<ChannelAccountSnapshot, "connected" | "lastError" | "receiving">;
  /** When it was last connected, in this run. */
  readonly upAt: number | undefined;
  /** When it reported a disconnect. */
  readonly lostAt: number | undefined;
  /** When something from the platform last arrived, in this run. */
  readonly heardAt: number | undefined;
  /** The plugin has reported a status, in this run. */
  readonly spoke: boolean;
  /** Expected interval of traffic from the platform, if the channel declares one. */
  readonly staleAfterMs: number | undefined;
}

/** A connection is ok when its transport says so and, where declared, there was recent traffic. */
export function judgeRun(facts: RunFacts): Judgement {
  const { now, startedAt, snapshot, upAt, lostAt, heardAt, spoke, staleAfterMs } = facts;
  if (snapshot.connected === false) {
    const since = now - (lostAt ?? startedAt);
    const cause = snapshot.lastError ? `: ${snapshot.lastError}` : "";
    // Another program uses the account: waiting does not help.
    if (snapshot.receiving?.state === "conflict") return { state: "degraded", why: `not receiving${cause}` };
    if (since > PATIENCE_MS) return { state: "degraded", why: `not connected for ${formatDuration(since)}${cause}` };
    return { state: upAt === undefined ? "starting" : "ok", why: `not connected${cause}` };
  }
  const quiet = now - (heardAt ?? startedAt);
  if (staleAfterMs !== undefined && quiet > staleAfterMs) return { state: "degraded", why: `connected, but nothing came for ${formatDuration(quiet)}` };
  // A plugin that never reports its connection counts as ok.
  const silent = snapshot.connected === undefined && !spoke && heardAt === undefined;
  return { state: silent && now - startedAt <= PATIENCE_MS ? "starting" : "ok", why: "" };
}

import type { Clock } from "../../base/clock.ts";
import type { ChannelAccountSnapshot, ChannelPlugin } from "../../protocol/index.ts";
import { judgeRun, type Judgement } from "./health.ts";
import type { Run } from "./run.ts";

/** The known state of one account while the gateway runs. */
export interface AccountRecord {
  snapshot(): ChannelAccountSnapshot;
  /** Merged into the snapshot. */
  note(facts: Partial<ChannelAccountSnapshot>): void;
  /** A new connection starts: the previous one's status no longer applies. */
  begin(plugin: ChannelPlugin, restarts: number): void;
  /** The plugin's status report. */
  reported(next: ChannelAccountSnapshot): void;
  /** Something from the platform arrived. */
  heard(): void;
  judge(run: Run): Judgement;
}

interface Signs {
  readonly upAt?: number;
  readonly lostAt?: number;
  readonly heardAt?: number;
  readonly spoke?: boolean;
}

export function createRecord(accountId: string, clock: Clock): AccountRecord {
  let known: ChannelAccountSnapshot = { accountId };
  let signs: Signs = {};

  function note(facts: Partial<ChannelAccountSnapshot>): void {
    const went = facts.connected === false && known.connected !== false;
    const came = facts.connected === true && known.connected !== true;
    if (went) signs = { ...signs, lostAt: clock.monotonic() };
    if (facts.connected === true) signs = { ...signs, upAt: clock.monotonic() };
    known = { ...known, ...(came ? { lastConnectedAt: clock.now() } : {}), ...facts, accountId };
  }

  return {
    snapshot: () => ({ ...known }),
    note,
    begin(plugin, restarts) {
      signs = {};
      known = {
        ...plugin.status?.defaultRuntime,
        ...known,
        accountId,
        running: true,
        connected: undefined,
        receiving: undefined,
        lastError: null,
        lastDisconnect: null,
      };
      note({ lastStartAt: clock.now(), reconnectAttempts: restarts });
    },
    reported(next) {
      signs = { ...signs, spoke: true, ...(typeof next.lastEventAt === "number" ? { heardAt: clock.monotonic() } : {}) };
      note(next);
    },
    heard() {
      signs = { ...signs, heardAt: clock.monotonic() };
      note({ lastInboundAt: clock.now(), lastEventAt: clock.now() });
    },
    judge: ({ startedAt, plugin }) =>
      judgeRun({
        now: clock.monotonic(),
        startedAt,
        snapshot: known,
        upAt: signs.upAt,
        lostAt: signs.lostAt,
        heardAt: signs.heardAt,
        spoke: signs.spoke ?? false,
        staleAfterMs: plugin.status?.staleAfterMs,
      }),
  };
}

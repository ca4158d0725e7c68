/**
 * The overview page: what runs, what waits, what went wrong and what to do about it, in one answer.
 * The entry point: everything but the list of runs is loaded when the page asks.
 */
import type { Clock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Redactor } from "../base/redaction.ts";
import type { Channels } from "../channels/index.ts";
import type { Config } from "../config/index.ts";
import type { HealthReport, OverviewPort } from "../gateway/index.ts";
import type { Models } from "../models/index.ts";
import type { PluginFacts } from "../plugins/index.ts";
import type { Store } from "../store/index.ts";
import { createRunBoard, type RunBoardDeps } from "./runs.ts";
import { createStateLog, type PartState } from "./state-log.ts";

export interface OpenOverviewDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "text">;
  readonly version: string;
  readonly health: () => HealthReport;
  readonly conversation: RunBoardDeps["conversation"];
  readonly channels: Pick<Channels, "health" | "accounts">;
  /** Of plugins that run. */
  readonly plugins: () => PluginFacts | undefined;
  readonly models: () => Promise<Pick<Models, "select" | "auth" | "needsNoKey">>;
  readonly log: Logger;
  /** Called when an account's state may have changed. */
  readonly onChannels: (listener: () => void) => Disposable;
  readonly defaultAgentId: () => string;
  /** Turns `openclaw …` in a text into a command that the user can run as printed. */
  readonly runnable: (text: string) => string;
}

/** What the accounts of channels do, by the ids of the history. */
export function channelStates(channels: Pick<Channels, "health" | "accounts">): ReadonlyMap<string, PartState | "starting"> {
  const stopped = new Set(
    channels.accounts().flatMap(({ channel, snapshot }) => (snapshot.stoppedByHand === true ? [`${channel}:${snapshot.accountId}`] : [])),
  );
  return new Map(
    channels.health().map(({ channel, accountId, state }) => {
      const name = `${channel}:${accountId}`;
      return [`channel:${name}`, stopped.has(name) ? "off" : state === "degraded" ? "slow" : state] as const;
    }),
  );
}

const DAY_MS = 86_400_000;
/** Messages are stored for this long unless something else is configured. */
const USUAL_DAYS = 14;

/** Follows runs and states from now on; everything else is loaded and read when the page asks. */
export function openOverview(deps: OpenOverviewDeps, stack: AsyncDisposableStack): OverviewPort {
  const { config, store, clock, log, redactor, version, health, channels, plugins, models, defaultAgentId, runnable, onChannels } = deps;
  const runs = stack.use(createRunBoard(deps));
  const states = stack.use(createStateLog({ store, clock, log: log.subsystem("overview"), states: () => channelStates(channels) }));
  stack.use(onChannels(states.changed));
  const keptMs = (): number => (config.current.store?.retention?.inboxDays ?? USUAL_DAYS) * DAY_MS;
  const open = lazy(async (): Promise<OverviewPort> => {
    const [{ createOverview }, { createModelView }, { createHistory }] = await Promise.all([
      import("./overview.ts"),
      import("./model-view.ts"),
      import("./history.ts"),
    ]);
    const model = createModelView({ models, agentId: defaultAgentId, config, clock });
    return {
      now: createOverview({ config, store, clock, redactor, version, health, runs, channels, plugins, model, runnable }),
      history: createHistory({ store, clock, states, keptMs }),
    };
  });
  return { now: async (asker) => (await open()).now(asker), history: async (hours) => (await open()).history(hours) };
}

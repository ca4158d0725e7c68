/**
 * The overview page: what runs, what waits, what went wrong and what to do about it, in one answer.
 * The entry point: everything but the list of runs is loaded when the page asks.
 */
import type { Clock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Redactor } from "../base/redaction.ts";
import type { Channels } from "../channels/index.ts";
import type { Config } from "../config/index.ts";
import type { HealthReport, OverviewPort } from "../gateway/index.ts";
import type { Models } from "../models/index.ts";
import type { PluginFacts } from "../plugins/index.ts";
import type { Store } from "../store/index.ts";
import { createRunBoard, type RunBoardDeps } from "./runs.ts";

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
  readonly models: () => Promise<Pick<Models, "select" | "auth">>;
  readonly defaultAgentId: () => string;
  /** Turns `openclaw …` in a text into a command that the user can run as printed. */
  readonly runnable: (text: string) => string;
}

/** Follows runs from now on; everything else is loaded and read when the page asks. */
export function openOverview(deps: OpenOverviewDeps, stack: AsyncDisposableStack): OverviewPort {
  const { config, store, clock, redactor, version, health, channels, plugins, models, defaultAgentId, runnable } = deps;
  const runs = stack.use(createRunBoard(deps));
  const open = lazy(async (): Promise<OverviewPort> => {
    const [{ createOverview }, { createModelView }] = await Promise.all([import("./overview.ts"), import("./model-view.ts")]);
    const model = createModelView({ models, agentId: defaultAgentId, config, clock });
    return createOverview({ config, store, clock, redactor, version, health, runs, channels, plugins, model, runnable });
  });
  return async (asker) => (await open())(asker);
}

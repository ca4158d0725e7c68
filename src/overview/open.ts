import { lazy } from "../base/lazy.ts";
import type { OverviewPort } from "../gateway/index.ts";
import type { OverviewDeps } from "./overview.ts";
import type { ModelViewDeps } from "./model-view.ts";
import { createRunBoard, type RunBoardDeps } from "./runs.ts";

export interface OpenOverviewDeps extends Omit<OverviewDeps, "runs" | "model" | "channels" | "plugins"> {
  readonly plugins: { readonly facts: OverviewDeps["plugins"] };
  readonly models: Pick<ModelViewDeps, "models">;
  readonly defaultAgentId: () => string;
}

/** Follows what runs from now on; everything else is loaded and looked at when somebody asks. */
export function openOverview(
  deps: OpenOverviewDeps,
  conversation: RunBoardDeps["conversation"],
  channels: OverviewDeps["channels"],
  stack: AsyncDisposableStack,
): OverviewPort {
  const runs = stack.use(createRunBoard({ ...deps, conversation }));
  const open = lazy(async (): Promise<OverviewPort> => {
    const [{ createOverview }, { createModelView }] = await Promise.all([import("./overview.ts"), import("./model-view.ts")]);
    const model = createModelView({ ...deps, models: deps.models.models, agentId: deps.defaultAgentId });
    return createOverview({ ...deps, channels, plugins: deps.plugins.facts, runs, model });
  });
  return async (asker) => (await open())(asker);
}

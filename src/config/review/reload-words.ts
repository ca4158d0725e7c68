import { actionsFor, planReload, type ReloadAction, type ReloadMode } from "../reload-rules.ts";

/** What a change makes happen, for people. */
export interface ReloadWords {
  readonly kind: "none" | "hot" | "restart";
  readonly paths: readonly { readonly path: string; readonly does: string }[];
}

/** More paths than anybody reads. */
const MOST_PATHS = 200;

const RESTART = "The gateway restarts. Messages that wait are kept and answered afterwards.";
const ON_USE = "Taken at the next use; nothing restarts.";

const EFFECTS: Readonly<Record<string, string>> = {
  auth: "Connections that were made with the old secret are closed.",
  hooks: "Webhooks follow at once.",
  gmail: "The Gmail watcher restarts.",
  heartbeat: "Heartbeats are rescheduled.",
  cron: "Scheduled jobs are rescheduled.",
  browser: "The browser restarts.",
};

function words(action: ReloadAction): string {
  if (action.kind === "process") return RESTART;
  if (action.kind === "none") return ON_USE;
  const id = action.kind === "restart" ? action.id : undefined;
  if (action.module === "channels" && id !== undefined) return `The channel ${id} reconnects.`;
  if (action.module === "plugins" && id !== undefined) return `The plugin ${id} reloads.`;
  return EFFECTS[action.module] ?? `${action.module} restarts.`;
}

/** Why a mode leaves a change alone. */
const IGNORED: Readonly<Partial<Record<ReloadMode, string>>> = {
  off: "Counts from the gateway's next restart: gateway.reload.mode is off.",
  hot: "Counts from the gateway's next restart: gateway.reload.mode is hot.",
};

/** What changes of `paths` make happen under a reload mode. `channels`: ids of loaded channels. */
export function describeReload(paths: readonly string[], mode: ReloadMode, channels: readonly string[]): ReloadWords {
  const { actions, held = [] } = planReload(paths, mode, channels);
  const restarts = actions.some(({ kind }) => kind === "process");
  const doing = (path: string): string => {
    if (held.includes(path)) return IGNORED[mode] ?? RESTART;
    if (mode === "restart") return RESTART;
    return [...new Set(actionsFor(path, channels).map(words))].join(" ");
  };
  return {
    kind: restarts ? "restart" : actions.length > 0 ? "hot" : "none",
    paths: paths
      .filter((path) => path !== "meta" && !path.startsWith("meta."))
      .slice(0, MOST_PATHS)
      .map((path) => ({ path, does: doing(path) })),
  };
}

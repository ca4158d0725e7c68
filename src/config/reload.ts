import type { Logger } from "../base/log/logger.ts";
import type { Config, ConfigEvent } from "./config.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import type { ReloadAction } from "./reload-rules.ts";

/** A module's part in a change of the configuration: it applies the new settings, or restarts what they affect. */
export type ReloadModule = (action: ReloadAction) => void | Promise<void>;

export interface ReloadDeps {
  readonly config: Config;
  readonly log: Logger;
  readonly restarts: { request(request: { readonly reason: string; readonly delayMs: number }, options: { readonly urgent: boolean }): unknown };
  /** By the name that plans use. A module that is missing here has nothing running that a change could affect. */
  readonly modules: Readonly<Record<string, ReloadModule>>;
  /** Ids of channels whose plugins run: a change of one's settings affects nothing else. */
  readonly channels?: () => readonly string[];
  /** Called with the configuration in use after every change. */
  readonly onChange?: (config: OpenClawConfig) => void;
}

/** Follows the configuration file. */
export interface Reload extends Disposable {
  /** Why the file as it is now is not used; undefined when it is. */
  readonly broken: string | undefined;
  /** Keeps what works and follows the file from now on. */
  settle(): Promise<void>;
}

const NAMED = 20;
const listed = (paths: readonly string[]): string => `${paths.slice(0, NAMED).join(", ")}${paths.length > NAMED ? `, and ${paths.length - NAMED} more` : ""}`;

/** Does what a change of the configuration needs: nothing, a restart of one module, or a restart of the gateway. */
export function createReload(deps: ReloadDeps): Reload {
  const { config, log, restarts, modules } = deps;
  let restartAhead = false;
  let over = false;
  let broken = config.snapshot().source === "last-good" ? config.snapshot().reason : undefined;

  async function keep(): Promise<void> {
    await config.keepAsGood().catch((error: unknown) => log.warn("the configuration could not be saved as the last known good one", { error }));
  }

  function apply(action: ReloadAction): void {
    if (action.kind !== "hot" && action.kind !== "restart") return;
    const module = modules[action.module];
    if (!module) return log.debug(`"${action.module}" is not running yet, so nothing has to change there`);
    Promise.resolve()
      .then(() => module(action))
      .catch((error: unknown) => log.warn(`"${action.module}" could not apply the changed configuration; it continues with the previous one`, { error }));
  }

  function changed({ plan, restartFollows, after }: Extract<ConfigEvent, { kind: "changed" }>): void {
    const { paths, actions, ignored, held = [] } = plan;
    const needsRestart = actions.some((action) => action.kind === "process");
    log.info(`configuration changed: ${listed(paths)}`, actions.length > 0 ? { actions } : {});
    if (ignored !== undefined) log.warn(ignored);
    deps.onChange?.(after.config);
    // What the gateway has to be opened with first is kept by the one that was.
    restartAhead ||= needsRestart || restartFollows;
    // A file of which a part waits for a restart is not what the gateway runs with.
    if (!restartAhead && held.length === 0) void keep();
    if (restartFollows) return;
    if (needsRestart) restarts.request({ reason: `config change: ${listed(paths)}`, delayMs: 0 }, { urgent: true });
    else actions.forEach(apply);
  }

  const listening = config.onEvent((event) => {
    if (event.kind === "invalid") {
      log.error(event.message);
      broken = `${event.snapshot.path} is invalid; the previous configuration stays in use:\n${event.message}`;
      return;
    }
    broken = undefined;
    if (event.kind === "changed") changed(event);
    else log.info(`${event.snapshot.path} is valid again`);
  });
  return {
    get broken() {
      return broken;
    },
    async settle() {
      await keep();
      if (over) return;
      try {
        await config.watch(deps.channels ? { channels: deps.channels } : {});
        // It ended meanwhile: nobody else stops what was begun here.
        if (over) config[Symbol.dispose]();
      } catch (error) {
        log.warn("the configuration file cannot be watched; changes need a restart", { error });
      }
    },
    [Symbol.dispose]() {
      over = true;
      listening[Symbol.dispose]();
    },
  };
}

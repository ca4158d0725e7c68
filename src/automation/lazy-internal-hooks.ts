/** Hooks from files, as `app` opens them: their code is loaded only where `hooks.internal.enabled` says so. */
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { defaultAgentId } from "../config/index.ts";
import type { InternalHooks } from "../hooks/index.ts";
import type { LoadedHook, LoadHooksDeps } from "./internal-hooks/load-hooks.ts";

export interface LazyInternalHooksDeps extends Omit<LoadHooksDeps, "registry" | "signal" | "workspaceDir"> {
  readonly clock: Clock;
  /** Where hooks of plugins are registered as well. */
  readonly registry: InternalHooks;
  /** Finishes or takes back an install that was interrupted; gives what was done. */
  readonly recover: () => Promise<readonly string[]>;
}

export interface LazyInternalHooks extends Disposable {
  /** Loads hooks from files when they are enabled. Called once, before turns begin; never rejects. */
  load(): Promise<void>;
  /** What became of the hooks that were to be loaded; none where hooks are off. */
  loaded(): readonly LoadedHook[];
  /** The gateway is ready and its channels were started: `gateway:startup` follows shortly. */
  started(facts: { readonly port: number }): void;
}

/** Between the start of channels and `gateway:startup`. */
const STARTUP_MS = 250;

export function createLazyInternalHooks(deps: LazyInternalHooksDeps): LazyInternalHooks {
  const { config, registry, clock, log, workspaceOf } = deps;
  const stopping = new AbortController();
  const stack = new DisposableStack();
  stack.defer(() => stopping.abort());
  const workspaceDir = (): string => workspaceOf(defaultAgentId(config.current));
  let outcomes: readonly LoadedHook[] = [];
  return {
    loaded: () => outcomes,
    async load() {
      if (config.current.hooks?.internal?.enabled !== true) return;
      try {
        for (const done of await deps.recover()) log.warn(done);
        const { loadHooks } = await import("./internal-hooks/index.ts");
        outcomes = await loadHooks({ ...deps, workspaceDir: workspaceDir(), signal: stopping.signal }, stack);
        const count = outcomes.filter(({ error }) => error === undefined).length;
        log.info(`${count} ${count === 1 ? "hook" : "hooks"} loaded`);
      } catch (error) {
        // Messages are answered whatever is wrong with hooks.
        log.error(`hooks could not be loaded: ${messageOf(error)}`, { error });
      }
    },
    started({ port }) {
      if (stack.disposed) return;
      const begin = (): void => {
        if (!registry.has("gateway", "startup")) return;
        const cfg = structuredClone(config.current);
        void registry.trigger("gateway", "startup", "gateway:startup", { cfg, deps: {}, workspaceDir: workspaceDir(), port });
      };
      stack.use(clock.after(STARTUP_MS, begin));
    },
    [Symbol.dispose]: () => stack.dispose(),
  };
}

import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { IdleProcess } from "../../base/idle-process.ts";
import type { LoadedModule, PluginDefinition } from "../load/index.ts";
import type { PluginDiagnostic, PluginEntry } from "../record.ts";
import { createLedger, type Binding, type Ledger, type Owner } from "../registry/index.ts";
import type { Scope, Scopes } from "./scope.ts";
import { within } from "./within.ts";

/** One load of a plugin's code, and everything that came of it. */
export interface Generation {
  readonly entry: PluginEntry;
  readonly owner: Owner;
  readonly ledger: Ledger;
  readonly scope: Scope;
  readonly definition: PluginDefinition;
  readonly binding: Binding;
  readonly loaded: LoadedModule;
  /** Milliseconds of import and of registration. */
  readonly took: { readonly load: number; readonly register: number };
  /** Runs `activate` where it is not the registration. Throws what it throws. */
  activate(): Promise<void>;
  /** Lets running calls end, for a while; then clears timers, closes servers and runs what the plugin gave to `lifecycle.onDispose`. */
  end(patienceMs: number): Promise<void>;
}

/** Registration and activation are awaited this long. */
const REGISTER_MS = 10_000;
const DISPOSE_MS = 2000;
/** How much longer than other calls those of tools may run in code that was replaced. */
const TOOL_PATIENCE_MS = 600_000;

export interface GenerationDeps {
  readonly scopes: Scopes;
  readonly clock: Clock;
  readonly idle: IdleProcess;
  readonly load: (entry: PluginEntry, generation: number) => Promise<LoadedModule>;
  readonly onDiagnostic: (found: PluginDiagnostic) => void;
  /** A plugin that runs registered something more. */
  readonly onLateRegistration?: () => void;
  readonly api: (made: {
    readonly entry: PluginEntry;
    readonly definition: PluginDefinition;
    readonly binding: Binding;
    readonly lifecycle: { readonly signal: AbortSignal; readonly onDispose: (fn: () => unknown) => void };
  }) => unknown;
  readonly nextNumber: () => number;
}

/** Code that is imported and has not run further than its modules. */
export interface Imported {
  /** Runs the registration. Nothing of it is in place yet: `ledger.commit` does that. When it fails nothing is left of it. */
  register(): Promise<Generation>;
}

/** Imports a plugin's code. When it fails nothing is left of it. */
export async function importGeneration(entry: PluginEntry, number: number, deps: GenerationDeps): Promise<Imported> {
  const { clock, idle, scopes } = deps;
  const owner: Owner = { pluginId: entry.id, source: entry.source, generation: number, bundled: entry.origin === "bundled" };
  const ledger = createLedger(owner, deps.onDiagnostic, deps.onLateRegistration);
  const scope = scopes.create(owner, entry.rootDir);
  const disposers: (() => unknown)[] = [];
  const ending = new AbortController();
  const tell: Binding["tell"] = (level, code, message) => deps.onDiagnostic({ level, code, message, pluginId: entry.id, source: entry.source });
  const onDispose = (fn: () => unknown): void => {
    if (ending.signal.aborted) tell("warn", "after-disposal", "api.lifecycle.onDispose was called after the plugin was unloaded");
    else disposers.push(scope.bind(fn, "a function passed to api.lifecycle.onDispose"));
  };

  async function end(patienceMs: number): Promise<void> {
    ledger.retire();
    if (scope.running > 0 && patienceMs > 0) await within(clock, patienceMs, "calls", () => scope.idle(), idle).catch(() => {});
    // A turn waits for these: they come to their end in the code that they began in.
    if (scope.toolCalls > 0 && patienceMs > 0) await within(clock, TOOL_PATIENCE_MS, "tool calls", () => scope.toolsIdle(), idle).catch(() => {});
    ending.abort();
    for (const dispose of disposers.splice(0).toReversed()) {
      await within(clock, DISPOSE_MS, "a function passed to api.lifecycle.onDispose", dispose, idle).catch((error: unknown) =>
        tell("warn", "dispose", messageOf(error)),
      );
    }
    scope.end();
  }

  /** What `work` gives; when it throws, everything that began here ends. */
  async function orEnd<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await end(0);
      throw error;
    }
  }

  const began = clock.monotonic();
  const loaded = await orEnd(scope.bind(() => deps.load(entry, number), "its import"));
  const { definition } = loaded;
  const load = clock.monotonic() - began;
  return {
    register: () =>
      orEnd(async () => {
        const registering = clock.monotonic();
        const binding = { ledger, scope, tell, nextNumber: deps.nextNumber };
        const api = deps.api({ entry, definition, binding, lifecycle: { signal: ending.signal, onDispose } });
        const register = scope.bind(definition.register ?? definition.activate ?? (() => {}), "register");
        await within(clock, REGISTER_MS, "register", () => register(api), idle);
        const took = { load, register: clock.monotonic() - registering };
        async function activate(): Promise<void> {
          const { activate: run } = definition;
          if (definition.register && run) await within(clock, REGISTER_MS, "activate", () => scope.bind(run, "activate")(api), idle);
        }
        return { entry, owner, ledger, scope, definition, binding, loaded, took, activate, end };
      }),
  };
}

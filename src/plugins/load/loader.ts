import { realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { createIdleProcess, type IdleProcess } from "../../base/idle-process.ts";
import { lazy } from "../../base/lazy.ts";
import type { PluginEntry } from "../record.ts";
import { definitionOf, pluginFailed, type LoadedModule } from "./definition.ts";
import { explain, isLinkFailure, ownerOfError } from "./failure.ts";
import { findFile } from "./files.ts";
import { createGraphs, type Graph } from "./graphs.ts";
import { createModuleHooks } from "./hooks.ts";
import type { HostPackages } from "./host-packages.ts";
import { importModule } from "./import.ts";
import { createRequireCache } from "./require-cache.ts";
import { createRequiredModules } from "./required-modules.ts";
import { createSourceCache } from "./source-cache.ts";
import { createSources } from "./sources.ts";

export interface ModuleLoaderDeps {
  /** Folder with one module per SDK sub-path: `index` is `openclaw/plugin-sdk`, `account-id` is `openclaw/plugin-sdk/account-id`; `.js` or `.ts`. */
  readonly sdkDir: string;
  readonly hostPackages: HostPackages;
  readonly clock: Clock;
  /** Milliseconds that an import may take, top-level await included. Default 10 000. */
  readonly budgetMs?: number;
  /** Folder for the JavaScript made of plugins' TypeScript, kept from one start to the next. Without it it is made at every start. */
  readonly cacheDir?: string;
  /**
   * Tells this loader's modules from those of one before it in the same process, after a restart in place: Node would give the old
   * ones again. Used where it does so; a plugin that is loaded for the first time has plain addresses.
   */
  readonly firstToken?: string;
}

/**
 * Imports plugins with Node's own loader, into which it hooks at the first load. Node forgets no ES module: what an earlier
 * generation was stays in memory, so reloading is for developing and updating, not for a routine.
 */
export interface ModuleLoader extends Disposable {
  /**
   * Imports the entry's code. Another generation, or another try after a failure, gets fresh instances of every file below the
   * plugin's folder. Throws `PLUGIN_FAILED` with a `PluginFailure` as details.
   */
  load(entry: PluginEntry, generation: number): Promise<LoadedModule>;
  /** Whose code threw it: by its stack, innermost plugin first. */
  pluginOf(error: unknown): string | undefined;
}

/** What a plugin's loads left behind. */
interface Known {
  tries: number;
  last: { readonly generation: number; readonly module: Promise<LoadedModule> };
}

export function createModuleLoader({ sdkDir, hostPackages, clock, budgetMs = 10_000, cacheDir, firstToken: instance = "" }: ModuleLoaderDeps): ModuleLoader {
  const graphs = createGraphs();
  const idle = createIdleProcess();
  const known = new Map<string, Known>();
  const requireCache = createRequireCache();
  const sdkFiles = new Map<string, string | undefined>();
  let hooks: { deregister(): void } | undefined;

  function sdkFile(subPath: string): string | undefined {
    if (!sdkFiles.has(subPath)) sdkFiles.set(subPath, /^[\w-]*(?:\/[\w-]+)*$/.test(subPath) ? findFile(join(sdkDir, `${subPath || "index"}.js`)) : undefined);
    return sdkFiles.get(subPath);
  }

  const install = lazy(async (): Promise<void> => {
    const lexer = await import("es-module-lexer");
    await lexer.init();
    const sources = createSources(lexer.parse, cacheDir === undefined ? undefined : createSourceCache(cacheDir));
    hooks = registerHooks(
      createModuleHooks({ graphs, hostPackages, sdkFile, ...sources, requireCache, requiredModules: createRequiredModules(import.meta.url) }),
    );
  });

  /** Tries again where Node answered with an earlier loader's modules, and, in the exact way, where modules did not fit together. */
  async function importEntry(entry: PluginEntry, source: string, graph: Graph): Promise<{ namespace: Record<string, unknown>; graph: Graph }> {
    const { root, token: mark, exact } = graph;
    const again = async (next: string, exactly: boolean): ReturnType<typeof importEntry> => {
      requireCache.forget(root);
      return await importEntry(entry, source, graphs.open(root, next, exactly, entry.id));
    };
    try {
      const namespace = await inTime(importModule(graphs.urlOf(source, graph)), { clock, idle }, budgetMs);
      return graph.files.has(source) || mark.startsWith(instance) ? { namespace, graph } : await again(instance, false);
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (!graph.files.has(source) && !mark.startsWith(instance)) return await again(instance, false);
      if (isLinkFailure(error) && !exact) return await again(`${mark}~`, true);
      graphs.abandon(graph);
      throw await explain(error, { entry, graph, graphs, namesOf });
    }
  }

  async function run(entry: PluginEntry, root: string, token: string): Promise<LoadedModule> {
    const source = entryFile(entry);
    const { namespace, graph } = await importEntry(entry, source, graphs.open(root, token, false, entry.id));
    const definition = definitionOf(namespace);
    if (!definition) throw pluginFailed("plugin export missing register/activate", { pluginId: entry.id, file: source, phase: "export" });
    const files = graph.files;
    return {
      definition,
      get files() {
        return [...files.keys()];
      },
    };
  }

  async function namesOf(specifier: string): Promise<ReadonlySet<string> | undefined> {
    const file = sdkFile(specifier.split("/").slice(2).join("/").replace(/\.js$/, ""));
    return file === undefined ? undefined : new Set(Object.keys(await importModule(pathToFileURL(file).href)));
  }

  return {
    async load(entry, generation) {
      await install();
      const root = realRoot(entry);
      const key = `${root}\0${entry.id}`;
      let before = known.get(key);
      if (before?.last.generation === generation) {
        const again = await before.last.module.catch(() => undefined);
        if (again) return again;
      }
      const tries = (before?.tries ?? 0) + 1;
      if (before) requireCache.forget(root);
      const module = run(entry, root, before ? `${instance}${entry.id}.${generation}.${tries}` : "");
      before ??= { tries, last: { generation, module } };
      before.tries = tries;
      before.last = { generation, module };
      known.set(key, before);
      return await module;
    },
    pluginOf: (error) => ownerOfError(error, graphs),
    [Symbol.dispose]() {
      for (const key of known.keys()) requireCache.forget(key.slice(0, key.indexOf("\0")));
      hooks?.deregister();
      hooks = undefined;
    },
  };
}

async function inTime<T>(work: Promise<T>, { clock, idle }: { readonly clock: Clock; readonly idle: IdleProcess }, budgetMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new Error(`its import did not finish within ${budgetMs} ms; top-level await must not wait for what may never come`);
  using _deadline = clock.after(budgetMs, () => reject(late));
  using _idle = idle.watch(() => reject(new Error("its import waits for something that never happens: a top-level await has nothing that could end it")));
  return await Promise.race([work, promise]);
}

function entryFile(entry: PluginEntry): string {
  const found = findFile(entry.source);
  if (found !== undefined) return found;
  throw pluginFailed(`plugin "${entry.id}": its entry ${entry.source} does not exist; install it again`, {
    pluginId: entry.id,
    file: entry.source,
    phase: "resolve",
  });
}

function realRoot(entry: PluginEntry): string {
  try {
    return realpathSync(entry.rootDir);
  } catch (error) {
    throw pluginFailed(
      `plugin "${entry.id}": its folder cannot be read: ${messageOf(error)}`,
      { pluginId: entry.id, file: entry.rootDir, phase: "resolve" },
      error,
    );
  }
}

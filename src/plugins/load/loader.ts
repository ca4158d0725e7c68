import { mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { createIdleProcess, type IdleProcess } from "../../base/idle-process.ts";
import { lazy } from "../../base/lazy.ts";
import type { PluginEntry } from "../record.ts";
import { definitionOf, pluginFailed, subjectOf, type ImportedFile, type LoadedModule } from "./definition.ts";
import { explain, isLinkFailure, ownerOfError } from "./failure.ts";
import { importModule } from "./import.ts";
import { findFile } from "./files.ts";
import { createGraphs, type Graph } from "./graphs.ts";
import { createModuleHooks } from "./hooks.ts";
import type { HostPackages } from "./host-packages.ts";
import { createRequireCache } from "./require-cache.ts";
import { createRequiredModules } from "./required-modules.ts";
import type { LoadDeps } from "./load-module.ts";
import type { ExportsOf } from "./imports.ts";
import { hasModuleSyntax, isTypeScript, prepareSource, type Lex, type PreparedSource } from "./source.ts";
import { hash } from "node:crypto";

/** Changes whenever the same text would be prepared differently. */
const VERSION = 2;
/** Entries beyond which the older half is thrown away. */
const MAX_ENTRIES = 4_000;

/** JavaScript of TypeScript files from earlier starts: the compiler costs some 100 ms and 30 MB, so it is not loaded for what is known. */
interface SourceCache {
  read(file: string, source: string): PreparedSource | undefined;
  /** Never fails: what cannot be kept is made again next time. */
  write(file: string, source: string, prepared: PreparedSource): void;
}

export function createSourceCache(folder: string): SourceCache {
  let made = false;
  const pathOf = (file: string, source: string): string => join(folder, `${hash("sha256", `${VERSION}\n${process.version}\n${extname(file)}\n${source}`)}.js`);

  function makeFolder(): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder);
    if (names.length <= MAX_ENTRIES) return;
    const byAge = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs })).sort((a, b) => a.at - b.at);
    for (const { name } of byAge.slice(0, names.length / 2)) rmSync(join(folder, name), { force: true });
  }

  return {
    read(file, source) {
      try {
        const text = readFileSync(pathOf(file, source), "utf8");
        const end = text.indexOf("\n");
        const facts = JSON.parse(text.slice(2, end)) as Omit<PreparedSource, "code">;
        return { ...facts, code: text.slice(end + 1) };
      } catch {
        return undefined;
      }
    },
    write(file, source, { code, ...facts }) {
      try {
        if (!made) makeFolder();
        made = true;
        const path = pathOf(file, source);
        const beside = `${path}.${process.pid}`;
        writeFileSync(beside, `//${JSON.stringify(facts)}\n${code}`, { mode: 0o600 });
        renameSync(beside, path);
      } catch {
        // A folder that cannot be written costs time at the next start and nothing else.
      }
    },
  };
}

/** Prepared sources, each made once while its text stays the same. */
function createSources(lex: Lex, cache?: SourceCache): Pick<LoadDeps, "prepare" | "exportsOf" | "hasModuleSyntax"> {
  const made = new Map<string, { readonly source: string; readonly exact: boolean; readonly prepared: PreparedSource }>();

  const prepare: LoadDeps["prepare"] = (file, source, exact, exportsOf) => {
    const known = made.get(file);
    if (known?.source === source && known.exact === exact) return known.prepared;
    // The exact way depends on other files too; it is rare and not kept.
    const kept = cache && !exact && isTypeScript(file) ? cache : undefined;
    let prepared = kept?.read(file, source);
    if (!prepared) {
      prepared = prepareSource(file, source, { lex, exact, exportsOf });
      kept?.write(file, source, prepared);
    }
    made.set(file, { source, exact, prepared });
    return prepared;
  };

  /** Exports of one of the plugin's own files, undefined where a star leads to where we do not look or files import each other. */
  function namesIn(file: string, graph: Graph, above: readonly string[]): ReadonlySet<string> | undefined {
    if (!/\.[mc]?tsx?$/.test(file) || above.includes(file)) return undefined;
    try {
      const path = [...above, file];
      const { code } = prepare(file, readFileSync(file, "utf8"), graph.exact, (specifier) => lookUp(specifier, file, graph, path));
      const names = new Set<string>();
      for (const item of lex(code)[1]) {
        if (item.type !== "reexport-all") names.add(item.name);
        else {
          const more = lookUp(item.from, file, graph, path);
          if (!more) return undefined;
          for (const name of more) names.add(name);
        }
      }
      return names;
    } catch {
      return undefined;
    }
  }

  function lookUp(specifier: string, from: string, graph: Graph, above: readonly string[]): ReadonlySet<string> | undefined {
    const target = specifier.startsWith(".") ? findFile(resolve(dirname(from), specifier)) : undefined;
    return target === undefined ? undefined : namesIn(target, graph, above);
  }

  const exportsOf =
    (file: string, graph: Graph): ExportsOf =>
    (specifier) =>
      lookUp(specifier, file, graph, [file]);
  return { prepare, exportsOf, hasModuleSyntax: (code) => hasModuleSyntax(lex, code) };
}

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
  /** Imports a file that is no plugin in the same way, once. Throws the same. */
  importFile(file: ImportedFile): Promise<Readonly<Record<string, unknown>>>;
  /** Whose code threw it: by its stack, innermost plugin first. */
  pluginOf(error: unknown): string | undefined;
}

/** What a plugin's loads left behind. */
interface Known {
  readonly tries: number;
  readonly last: { readonly generation: number; readonly module: Promise<LoadedModule> };
}

export function createModuleLoader({ sdkDir, hostPackages, clock, budgetMs = 10_000, cacheDir, firstToken: instance = "" }: ModuleLoaderDeps): ModuleLoader {
  const graphs = createGraphs();
  const idle = createIdleProcess();
  const known = new Map<string, Known>();
  const requireCache = createRequireCache();
  const sdkFile = createSdkFiles(sdkDir);
  let hooks: { deregister(): void } | undefined;

  const install = lazy(async (): Promise<void> => {
    const lexer = await import("es-module-lexer");
    await lexer.init();
    const sources = createSources(lexer.parse, cacheDir === undefined ? undefined : createSourceCache(cacheDir));
    hooks = registerHooks(
      createModuleHooks({ graphs, hostPackages, sdkFile, ...sources, requireCache, requiredModules: createRequiredModules(import.meta.url) }),
    );
  });

  /** Tries again where Node answered with an earlier loader's modules, and, in the exact way, where modules did not fit together. */
  async function importEntry(entry: ImportedFile, source: string, graph: Graph): Promise<{ namespace: Record<string, unknown>; graph: Graph }> {
    const { root, token: mark, exact } = graph;
    const again = async (next: string, exactly: boolean): ReturnType<typeof importEntry> => {
      requireCache.forget(root);
      return await importEntry(entry, source, graphs.open(root, next, exactly, entry.id));
    };
    const work = importModule(graphs.urlOf(source, graph));
    work.catch(() => {});
    // Node loads within the call what it does not have. An earlier loader's module may never come to its end: it is not waited for.
    if (!graph.files.has(source) && !mark.startsWith(instance)) return await again(instance, false);
    try {
      return { namespace: await inTime(work, { clock, idle }, budgetMs), graph };
    } catch (error) {
      if (error instanceof AppError) throw error;
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
      const before = known.get(key);
      if (before?.last.generation === generation) {
        const again = await before.last.module.catch(() => undefined);
        if (again) return again;
      }
      const tries = (before?.tries ?? 0) + 1;
      if (before) requireCache.forget(root);
      const module = run(entry, root, before ? `${instance}${entry.id}.${generation}.${tries}` : "");
      known.set(key, { tries, last: { generation, module } });
      return await module;
    },
    async importFile(file) {
      await install();
      return (await importEntry(file, entryFile(file), graphs.open(realRoot(file), "", false, file.id))).namespace;
    },
    pluginOf: (error) => ownerOfError(error, graphs),
    [Symbol.dispose]() {
      for (const key of known.keys()) requireCache.forget(key.slice(0, key.indexOf("\0")));
      hooks?.deregister();
      hooks = undefined;
    },
  };
}

/** Files of the SDK by sub-path, each looked up once. */
function createSdkFiles(sdkDir: string): (subPath: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (subPath) => {
    if (!known.has(subPath)) known.set(subPath, /^[\w-]*(?:\/[\w-]+)*$/.test(subPath) ? findFile(join(sdkDir, `${subPath || "index"}.js`)) : undefined);
    return known.get(subPath);
  };
}

async function inTime<T>(work: Promise<T>, { clock, idle }: { readonly clock: Clock; readonly idle: IdleProcess }, budgetMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new Error(`its import did not finish within ${budgetMs} ms; top-level await must not wait indefinitely`);
  using _deadline = clock.after(budgetMs, () => reject(late));
  using _idle = idle.watch(() => reject(new Error("its import never finishes: a top-level await waits for something that cannot happen")));
  return await Promise.race([work, promise]);
}

function entryFile(entry: ImportedFile): string {
  const found = findFile(entry.source);
  if (found !== undefined) return found;
  throw pluginFailed(`${subjectOf(entry)}: its entry ${entry.source} does not exist; install it again`, {
    pluginId: entry.id,
    file: entry.source,
    phase: "resolve",
  });
}

function realRoot(entry: ImportedFile): string {
  try {
    return realpathSync(entry.rootDir);
  } catch (error) {
    throw pluginFailed(
      `${subjectOf(entry)}: its folder cannot be read: ${messageOf(error)}`,
      { pluginId: entry.id, file: entry.rootDir, phase: "resolve" },
      error,
    );
  }
}

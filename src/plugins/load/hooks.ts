import { readFileSync } from "node:fs";
import { isBuiltin, type LoadFnOutput, type LoadHookContext, type ResolveFnOutput, type ResolveHookContext } from "node:module";
import { dirname, resolve as resolvePath, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf, systemCode } from "../../base/errors.ts";
import { findFile } from "./files.ts";
import type { Graph } from "./graphs.ts";
import { packageName, type HostPackages, type NextResolve } from "./host-packages.ts";
import { isSdk, lineAt, SDK } from "./imports.ts";
import type { RequireCache } from "./require-cache.ts";
import { byRequire, loadModule, MISSING, type LoadDeps, type NextLoad } from "./load-module.ts";

/** An import that leads nowhere. Carries Node's code, so that a plugin can tell that an optional package is missing. */
export class ResolveFailure extends Error {
  override readonly name = "ResolveFailure";
  readonly code: string;
  readonly file: string;
  readonly line: number | undefined;

  constructor(message: string, place: { readonly file: string; readonly line: number | undefined }, code: string) {
    super(message);
    this.code = code;
    this.file = place.file;
    this.line = place.line;
  }
}

export interface HooksDeps extends LoadDeps {
  readonly hostPackages: HostPackages;
  /** File of an SDK sub-path, `""` for the root. */
  readonly sdkFile: (subPath: string) => string | undefined;
  readonly requireCache: Pick<RequireCache, "note" | "isForgetting">;
}

/** Where in `parent` the specifier stands. */
function locateSpecifier(parent: string, specifier: string): { readonly file: string; readonly line: number | undefined } {
  const file = fileURLToPath(parent);
  try {
    const source = readFileSync(file, "utf8");
    const index = [`"${specifier}"`, `'${specifier}'`, `\`${specifier}\``].map((quoted) => source.indexOf(quoted)).find((at) => at >= 0);
    return { file, line: index === undefined ? undefined : lineAt(source, index) };
  } catch {
    return { file, line: undefined };
  }
}

const show = ({ file, line }: { readonly file: string; readonly line: number | undefined }): string => (line === undefined ? file : `${file}:${line}`);

/** A module of the SDK. */
function resolveSdk(specifier: string, parent: string, context: ResolveHookContext, graph: Graph, sdkFile: HooksDeps["sdkFile"]): ResolveFnOutput {
  const file = sdkFile(specifier.slice(SDK.length + 1).replace(/\.js$/, ""));
  if (file !== undefined) return { url: pathToFileURL(file).href, shortCircuit: true };
  const place = locateSpecifier(parent, specifier);
  const message = `plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}), which this host's SDK does not have; use a version of the plugin made for this host, or update the host`;
  // A static import must get something, so that names missing elsewhere are found too and reported together.
  if (byRequire(context)) throw new ResolveFailure(message, place, "ERR_PACKAGE_PATH_NOT_EXPORTED");
  return { url: `${MISSING}${encodeURIComponent(message)}`, format: "module", shortCircuit: true };
}

/** The hooks for `module.registerHooks`: they pass on whatever no plugin's code asks for. */
export function createModuleHooks(deps: HooksDeps): {
  resolve: (specifier: string, context: ResolveHookContext, next: NextResolve) => ResolveFnOutput;
  load: (url: string, context: LoadHookContext, next: NextLoad) => LoadFnOutput;
} {
  const { graphs } = deps;

  const found = (path: string, graph: Graph, dependency: boolean): ResolveFnOutput => {
    if (!path.startsWith(graph.root + sep)) graphs.adopt(path, graph, dependency);
    return { url: graphs.urlOf(path, graph), shortCircuit: true };
  };
  /** What Node itself finds. */
  const foundByNode = (resolved: ResolveFnOutput, graph: Graph): ResolveFnOutput =>
    resolved.url.startsWith("file:") ? { ...resolved, ...found(fileURLToPath(resolved.url), graph, true) } : resolved;

  function relative(specifier: string, parent: string, context: ResolveHookContext, next: NextResolve, graph: Graph): ResolveFnOutput {
    const from = fileURLToPath(parent);
    // A dependency may ship its sources beside what it runs: there Node decides first.
    const dependency = graphs.isDependency(from, graph);
    let missing: unknown;
    if (dependency) {
      try {
        return foundByNode(next(specifier, context), graph);
      } catch (error) {
        missing = error;
      }
    }
    const path = byRequire(context) ? resolvePath(dirname(from), specifier) : fileURLToPath(new URL(specifier, parent));
    const file = findFile(path);
    if (file !== undefined) return found(file, graph, dependency);
    if (dependency) throw missing;
    const place = locateSpecifier(parent, specifier);
    const code = byRequire(context) ? "MODULE_NOT_FOUND" : "ERR_MODULE_NOT_FOUND";
    throw new ResolveFailure(`plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}), but there is no such file: ${path}`, place, code);
  }

  function bare(specifier: string, parent: string, context: ResolveHookContext, next: NextResolve, graph: Graph): ResolveFnOutput {
    try {
      return foundByNode(next(specifier, context), graph);
    } catch (error) {
      const url = (error as { url?: unknown }).url;
      const path = typeof url === "string" && url.startsWith("file:") ? findFile(fileURLToPath(url)) : undefined;
      if (path !== undefined) return found(path, graph, true);
      const offered = deps.hostPackages.resolve(specifier, byRequire(context) ? undefined : (name, from) => next(name, { ...context, ...from }));
      if (offered !== undefined) return { url: offered, shortCircuit: true };
      if (graphs.isDependency(fileURLToPath(parent), graph)) throw error;
      const place = locateSpecifier(parent, specifier);
      const code = systemCode(error) ?? "ERR_MODULE_NOT_FOUND";
      const name = packageName(specifier);
      const missing = code.endsWith("MODULE_NOT_FOUND");
      const reason = missing
        ? `which is neither in its node_modules nor offered by the host; the plugin must include it: add ${name} to its dependencies and install them in ${graph.root}`
        : messageOf(error);
      throw new ResolveFailure(`plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}), ${reason}`, place, code);
    }
  }

  return {
    resolve(specifier, context, next) {
      if (deps.requireCache.isForgetting) throw new Error("nothing is resolved while files are forgotten");
      const made = deps.requiredModules.resolve(specifier);
      if (made) return made;
      const parent = context.parentURL;
      const graph = parent === undefined ? undefined : graphs.of(parent, byRequire(context));
      if (parent === undefined || !graph || isBuiltin(specifier)) return next(specifier, context);
      if (byRequire(context)) deps.requireCache.note(graph.root, fileURLToPath(parent), specifier);
      if (isSdk(specifier)) return resolveSdk(specifier, parent, context, graph, deps.sdkFile);
      if (specifier === "openclaw" || specifier.startsWith("openclaw/")) {
        const place = locateSpecifier(parent, specifier);
        throw new ResolveFailure(
          `plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}); of the host only ${SDK} and its sub-paths can be imported`,
          place,
          "ERR_PACKAGE_PATH_NOT_EXPORTED",
        );
      }
      if (/^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(specifier)) return relative(specifier, parent, context, next, graph);
      if (/^[a-z][a-z\d+.-]+:/i.test(specifier)) return next(specifier, context);
      return bare(specifier, parent, context, next, graph);
    },
    load: (url, context, next) => loadModule(url, context, next, deps),
  };
}

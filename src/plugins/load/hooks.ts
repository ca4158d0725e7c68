import { readFileSync } from "node:fs";
import { isBuiltin, type LoadFnOutput, type LoadHookContext, type ResolveFnOutput, type ResolveHookContext } from "node:module";
import { dirname, extname, resolve as resolvePath, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf, systemCode } from "../../base/errors.ts";
import { findFile } from "./files.ts";
import type { Graph, Graphs } from "./graphs.ts";
import { packageName, type HostPackages } from "./host-packages.ts";
import { isSdk, lineAt, SDK, type ExportsOf } from "./imports.ts";
import { isTypeScript, type PreparedSource } from "./source.ts";

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

export interface HooksDeps {
  readonly graphs: Graphs;
  readonly hostPackages: HostPackages;
  /** File of an SDK sub-path, `""` for the root. */
  readonly sdkFile: (subPath: string) => string | undefined;
  /** Throws `SyntaxFailure`. */
  readonly prepare: (file: string, source: string, exact: boolean, exportsOf: ExportsOf) => PreparedSource;
  readonly exportsOf: (file: string, graph: Graph) => ExportsOf;
}

type NextResolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;
type NextLoad = (url: string, context?: Partial<LoadHookContext>) => LoadFnOutput;

const MISSING = "openclaw-missing:";
const byRequire = (context: { readonly conditions: readonly string[] }): boolean => context.conditions.includes("require");
const inPackage = (path: string, graph: Graph): boolean => path.slice(graph.root.length).includes(`${sep}node_modules${sep}`);

/** Where in `parent` the specifier stands. */
function placeOf(parent: string, specifier: string): { readonly file: string; readonly line: number | undefined } {
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

/** The hooks for `module.registerHooks`: they pass on whatever no plugin's code asks for. */
export function createModuleHooks(deps: HooksDeps): {
  resolve: (specifier: string, context: ResolveHookContext, next: NextResolve) => ResolveFnOutput;
  load: (url: string, context: LoadHookContext, next: NextLoad) => LoadFnOutput;
} {
  const { graphs } = deps;

  const found = (path: string, graph: Graph): ResolveFnOutput => {
    if (!path.startsWith(graph.root + sep)) graphs.adopt(path, graph);
    return { url: graphs.urlOf(path, graph), shortCircuit: true };
  };

  function sdk(specifier: string, parent: string, context: ResolveHookContext, graph: Graph): ResolveFnOutput {
    const file = deps.sdkFile(specifier.slice(SDK.length + 1).replace(/\.js$/, ""));
    if (file !== undefined) return { url: pathToFileURL(file).href, shortCircuit: true };
    const place = placeOf(parent, specifier);
    const message = `plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}), which this host's SDK does not have; use a version of the plugin made for this host, or update the host`;
    // A static import must get something, so that the names missing elsewhere are found too and all are told at once.
    if (byRequire(context)) throw new ResolveFailure(message, place, "ERR_PACKAGE_PATH_NOT_EXPORTED");
    return { url: `${MISSING}${encodeURIComponent(message)}`, format: "module", shortCircuit: true };
  }

  function relative(specifier: string, parent: string, context: ResolveHookContext, graph: Graph): ResolveFnOutput {
    const path = byRequire(context) ? resolvePath(dirname(fileURLToPath(parent)), specifier) : fileURLToPath(new URL(specifier, parent));
    const file = findFile(path);
    if (file !== undefined) return found(file, graph);
    const place = placeOf(parent, specifier);
    const code = byRequire(context) ? "MODULE_NOT_FOUND" : "ERR_MODULE_NOT_FOUND";
    throw new ResolveFailure(`plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}), but there is no such file: ${path}`, place, code);
  }

  function bare(specifier: string, parent: string, context: ResolveHookContext, next: NextResolve, graph: Graph): ResolveFnOutput {
    try {
      const resolved = next(specifier, context);
      return resolved.url.startsWith("file:") ? { ...resolved, ...found(fileURLToPath(resolved.url), graph) } : resolved;
    } catch (error) {
      const url = (error as { url?: unknown }).url;
      const path = typeof url === "string" && url.startsWith("file:") ? findFile(fileURLToPath(url)) : undefined;
      if (path !== undefined) return found(path, graph);
      const offered = deps.hostPackages.resolve(specifier, byRequire(context));
      if (offered !== undefined) return { url: offered, shortCircuit: true };
      if (inPackage(fileURLToPath(parent), graph)) throw error;
      const place = placeOf(parent, specifier);
      const code = systemCode(error) ?? "ERR_MODULE_NOT_FOUND";
      const name = packageName(specifier);
      const missing = code.endsWith("MODULE_NOT_FOUND");
      const reason = missing
        ? `which is neither in its node_modules nor offered by the host; the plugin has to bring it: add ${name} to its dependencies and install them in ${graph.root}`
        : messageOf(error);
      throw new ResolveFailure(`plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}), ${reason}`, place, code);
    }
  }

  return {
    resolve(specifier, context, next) {
      const parent = context.parentURL;
      const graph = parent === undefined ? undefined : graphs.of(parent);
      if (parent === undefined || !graph || isBuiltin(specifier)) return next(specifier, context);
      if (isSdk(specifier)) return sdk(specifier, parent, context, graph);
      if (specifier === "openclaw" || specifier.startsWith("openclaw/")) {
        const place = placeOf(parent, specifier);
        throw new ResolveFailure(
          `plugin "${graph.pluginId}" imports "${specifier}" (${show(place)}); of the host only ${SDK} and its sub-paths can be imported`,
          place,
          "ERR_PACKAGE_PATH_NOT_EXPORTED",
        );
      }
      if (/^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(specifier)) return relative(specifier, parent, context, graph);
      if (specifier.startsWith("#") || /^[a-z][a-z\d+.-]+:/i.test(specifier)) return next(specifier, context);
      return bare(specifier, parent, context, next, graph);
    },
    load(url, context, next) {
      if (url.startsWith(MISSING)) {
        const message = decodeURIComponent(url.slice(MISSING.length));
        return {
          format: "module",
          source: `throw Object.assign(new Error(${JSON.stringify(message)}), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });`,
          shortCircuit: true,
        };
      }
      const graph = graphs.of(url);
      return graph ? loadOwned(url, context, next, graph, deps) : next(url, context);
    },
  };
}

const PREPARED = new Set([".js", ".mjs", ".cjs"]);

function loadOwned(url: string, context: LoadHookContext, next: NextLoad, graph: Graph, { prepare, exportsOf }: HooksDeps): LoadFnOutput {
  const path = fileURLToPath(url);
  if (!graph.files.has(path)) graph.files.set(path, graph.pluginId);
  const typed = isTypeScript(path);
  if (extname(path) === ".json" && !byRequire(context) && context.importAttributes?.["type"] !== "json") return jsonModule(readFileSync(path, "utf8"));
  if (!typed && (!PREPARED.has(extname(path)) || inPackage(path, graph))) return next(url, context);
  const { format, code, sdkNames } = prepare(path, readFileSync(path, "utf8"), graph.exact, exportsOf(path, graph));
  for (const name of sdkNames) graph.sdkNames.push({ ...name, file: path });
  // Plain CommonJS is Node's own business: it also knows what the package says.
  if (format === "commonjs" && !typed) return next(url, context);
  return { format, source: code, shortCircuit: true };
}

/** JSON as a module: the value as default, and its keys by name where they can be. */
function jsonModule(text: string): LoadFnOutput {
  const value: unknown = JSON.parse(text);
  const keys = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value).filter((key) => key !== "default") : [];
  const names = keys.map((key, i) => `const $${i}=value[${JSON.stringify(key)}];export{$${i} as ${JSON.stringify(key)}};`);
  return { format: "module", source: `const value=${JSON.stringify(value)};export default value;${names.join("")}`, shortCircuit: true };
}

import { readFileSync } from "node:fs";
import type { LoadFnOutput, LoadHookContext } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Graph, Graphs } from "./graphs.ts";
import type { ExportsOf } from "./imports.ts";
import type { RequiredModules } from "./required-modules.ts";
import { isTypeScript, type PreparedSource } from "./source.ts";

export interface LoadDeps {
  readonly graphs: Graphs;
  /** Throws `SyntaxFailure`. */
  readonly prepare: (file: string, source: string, exact: boolean, exportsOf: ExportsOf) => PreparedSource;
  readonly exportsOf: (file: string, graph: Graph) => ExportsOf;
  /** Whether JavaScript of an unknown format is an ES module. */
  readonly hasModuleSyntax: (code: string) => boolean;
  readonly requiredModules: RequiredModules;
}

export type NextLoad = (url: string, context?: Partial<LoadHookContext>) => LoadFnOutput;

/** Addresses of SDK sub-paths that this host does not have: the rest is the message. */
export const MISSING = "openclaw-missing:";
export const byRequire = (context: { readonly conditions: readonly string[] }): boolean => context.conditions.includes("require");

/** The load hook for `module.registerHooks`. */
export function loadModule(url: string, context: LoadHookContext, next: NextLoad, deps: LoadDeps): LoadFnOutput {
  if (url.startsWith(MISSING)) {
    const message = decodeURIComponent(url.slice(MISSING.length));
    const source = `throw Object.assign(new Error(${JSON.stringify(message)}), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });`;
    return { format: "module", source, shortCircuit: true };
  }
  const made = deps.requiredModules.source(url);
  if (made) return made;
  const graph = deps.graphs.of(url, byRequire(context));
  const loaded = graph ? loadOwned(url, context, next, graph, deps) : loadAsPackaged(url, context, next, deps);
  return loaded === "required" ? deps.requiredModules.load(url) : loaded;
}

const PREPARED = new Set([".js", ".mjs", ".cjs"]);

/** A file whose format its own package decides, as Node does. An ES module that is required is `"required"`: it is not loaded here. */
function loadAsPackaged(url: string, context: LoadHookContext, next: NextLoad, { hasModuleSyntax }: LoadDeps): LoadFnOutput | "required" {
  if (!byRequire(context) || !url.startsWith("file:")) return next(url, context);
  const isModule = (format: string | null | undefined): boolean => format?.startsWith("module") === true;
  if (isModule(context.format)) return "required";
  const loaded = next(url, context);
  if (isModule(loaded.format)) return "required";
  // Without a word from the package Node tries CommonJS first, and takes what is not CommonJS for a module.
  const open = (loaded.format === null || loaded.format === undefined || loaded.format === "typescript") && loaded.source !== undefined;
  return open && [".js", ".ts"].includes(extname(fileURLToPath(url))) && hasModuleSyntax(textOf(loaded.source)) ? "required" : loaded;
}

function loadOwned(url: string, context: LoadHookContext, next: NextLoad, graph: Graph, deps: LoadDeps): LoadFnOutput | "required" {
  const path = fileURLToPath(url);
  if (!graph.files.has(path)) graph.files.set(path, graph.pluginId);
  const typed = isTypeScript(path);
  if (extname(path) === ".json" && !byRequire(context) && context.importAttributes?.["type"] !== "json") return jsonModule(readFileSync(path, "utf8"));
  if (!typed && (!PREPARED.has(extname(path)) || deps.graphs.isDependency(path, graph))) {
    const loaded = loadAsPackaged(url, context, next, deps);
    if (loaded !== "required" && (byRequire(context) || loaded.format === "commonjs")) graph.commonJs.add(path);
    return loaded;
  }
  const { format, code, sdkNames } = deps.prepare(path, readFileSync(path, "utf8"), graph.exact, deps.exportsOf(path, graph));
  if (format === "module" && byRequire(context)) return "required";
  for (const name of sdkNames) graph.sdkNames.push({ ...name, file: path });
  if (format === "commonjs") graph.commonJs.add(path);
  return { format, source: code, shortCircuit: true };
}

/** JSON as a module: the value as default, and its keys by name where they can be. */
function jsonModule(text: string): LoadFnOutput {
  const value: unknown = JSON.parse(text);
  const keys = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value).filter((key) => key !== "default") : [];
  const names = keys.map((key, i) => `const $${i}=value[${JSON.stringify(key)}];export{$${i} as ${JSON.stringify(key)}};`);
  return { format: "module", source: `const value=${JSON.stringify(value)};export default value;${names.join("")}`, shortCircuit: true };
}

const textOf = (source: LoadFnOutput["source"]): string => (typeof source === "string" ? source : source ? Buffer.from(source as Uint8Array).toString() : "");

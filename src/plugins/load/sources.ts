import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { findFile } from "./files.ts";
import type { Graph } from "./graphs.ts";
import type { LoadDeps } from "./load-module.ts";
import type { ExportsOf } from "./imports.ts";
import type { SourceCache } from "./source-cache.ts";
import { hasModuleSyntax, isTypeScript, prepareSource, type Lex, type PreparedSource } from "./source.ts";

/** Prepared sources, each made once while its text stays the same. */
export function createSources(lex: Lex, cache?: SourceCache): Pick<LoadDeps, "prepare" | "exportsOf" | "hasModuleSyntax"> {
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

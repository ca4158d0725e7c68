import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SdkName } from "./imports.ts";

/** All that is loaded of a plugin's folder in one generation. Plugins that share a folder share its first generation. */
export interface Graph {
  /** Real path of the folder. */
  readonly root: string;
  /** Tells this generation's module addresses from others'; empty for the first. */
  readonly token: string;
  /** See `withoutUnusedImports`. */
  readonly exact: boolean;
  /** Files below the folder in load order, with the plugin that was loading them. */
  readonly files: Map<string, string>;
  /** Those of them that are CommonJS. */
  readonly commonJs: Set<string>;
  readonly sdkNames: (SdkName & { readonly file: string })[];
  /** The plugin that loads, or loaded last. */
  pluginId: string;
}

const QUERY = "?openclaw=";
const PACKAGES = `${sep}node_modules${sep}`;

/** Which modules belong to which plugin: those below a plugin's folder, and files elsewhere that these import. */
export interface Graphs {
  /** Makes `graph` the one that code without an address of its own (CommonJS) belongs to. */
  open(root: string, token: string, exact: boolean, pluginId: string): Graph;
  /** Code without an address of its own belongs to the graph before this one again, if there is one. */
  abandon(graph: Graph): void;
  /**
   * The graph of a module by its URL. Node drops the generation from the address of CommonJS code and of code that calls `require`: it belongs to
   * the newest generation, as it does in Node's own cache.
   */
  of(url: string, byRequire: boolean): Graph | undefined;
  /** Takes a file outside of the folder into the graph: a dependency, or a file that the plugin shares with others. */
  adopt(path: string, graph: Graph, dependency: boolean): void;
  /** Whether a file belongs to a package that the plugin depends on, wherever that package is installed. */
  isDependency(path: string, graph: Graph): boolean;
  /** Module address of a file in a graph. */
  urlOf(path: string, graph: Graph): string;
  /**
   * The plugin whose file is named in a line of a stack, and where. Dependencies outside of plugins' folders are shared, with the host too: they
   * belong to nobody, unless `loading` names the graph that was loading them.
   */
  inStack(line: string, loading?: Graph): { readonly pluginId: string; readonly file: string; readonly line: number } | undefined;
}

interface Folder {
  readonly path: string;
  readonly url: string;
  readonly byToken: Map<string, Graph>;
  current: Graph;
}

export function createGraphs(): Graphs {
  /** Longest path first, so that a plugin inside of another's folder is its own. */
  const folders: Folder[] = [];
  const adopted = new Map<string, { readonly graph: Graph; readonly dependency: boolean }>();

  const below = (path: string): Folder | undefined => folders.find((folder) => path.startsWith(folder.path));

  function ownerOf(path: string, loading: Graph | undefined): string | undefined {
    const folder = below(path);
    if (!folder) {
      const known = adopted.get(path);
      return known && (!known.dependency || known.graph === loading) ? known.graph.pluginId : undefined;
    }
    for (const graph of folder.byToken.values()) {
      const pluginId = graph.files.get(path);
      if (pluginId !== undefined) return pluginId;
    }
    return folder.current.pluginId;
  }

  function withoutToken(folder: Folder, url: string, byRequire: boolean): Graph {
    if (byRequire || folder.byToken.size === 1) return folder.current;
    const path = fileURLToPath(url);
    return [...folder.byToken.values()].findLast((graph) => graph.commonJs.has(path)) ?? folder.byToken.get("") ?? folder.current;
  }

  return {
    open(root, token, exact, pluginId) {
      const path = root.endsWith(sep) ? root : root + sep;
      let folder = folders.find((known) => known.path === path);
      const known = folder?.byToken.get(token);
      const graph: Graph = known ?? { root, token, exact, files: new Map(), commonJs: new Set(), sdkNames: [], pluginId };
      graph.pluginId = pluginId;
      if (!folder) {
        folder = { path, url: pathToFileURL(path).href, byToken: new Map(), current: graph };
        folders.push(folder);
        folders.sort((a, b) => b.path.length - a.path.length);
      }
      folder.byToken.set(token, graph);
      folder.current = graph;
      return graph;
    },
    abandon(graph) {
      const folder = below(graph.root + sep);
      if (folder?.current === graph) folder.current = [...folder.byToken.values()].findLast((other) => other !== graph) ?? graph;
    },
    of(url, byRequire) {
      const folder = folders.find((known) => url.startsWith(known.url));
      if (folder) {
        const query = url.indexOf(QUERY);
        if (query >= 0) return folder.byToken.get(decodeURIComponent(url.slice(query + QUERY.length)));
        return withoutToken(folder, url, byRequire);
      }
      return adopted.size > 0 && url.startsWith("file:") ? adopted.get(fileURLToPath(url))?.graph : undefined;
    },
    adopt: (path, graph, dependency) => void adopted.set(path, { graph, dependency }),
    isDependency(path, { root }) {
      if (path.startsWith(root + sep)) return path.slice(root.length).includes(PACKAGES);
      return adopted.get(path)?.dependency ?? path.includes(PACKAGES);
    },
    urlOf(path, graph) {
      const url = pathToFileURL(path).href;
      return graph.token !== "" && below(path)?.path.startsWith(graph.root) === true ? url + QUERY + encodeURIComponent(graph.token) : url;
    },
    inStack(line, loading) {
      const place = /(file:\/\/[^\s?:)]+|\/[^?:()]+|[A-Za-z]:[\\/][^?:()]+)(?:\?[^:\s)]*)?:(\d+)(?::\d+)?\)?$/.exec(line.trimEnd());
      if (!place) return undefined;
      const file = place[1]!.startsWith("file:") ? fileURLToPath(place[1]!) : place[1]!;
      const pluginId = ownerOf(file, loading);
      return pluginId === undefined ? undefined : { pluginId, file, line: Number(place[2]) };
    },
  };
}

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
  readonly sdkNames: (SdkName & { readonly file: string })[];
  /** The plugin that loads, or loaded last. */
  pluginId: string;
}

const QUERY = "?openclaw=";

/** Which modules belong to which plugin: those below a plugin's folder, and files elsewhere that these import. */
export interface Graphs {
  /** Makes `graph` the one that code without an address of its own (CommonJS) belongs to. */
  open(root: string, token: string, exact: boolean, pluginId: string): Graph;
  /** The graph of a module by its URL. */
  of(url: string): Graph | undefined;
  /** Takes a file outside of the folder into the graph. */
  adopt(path: string, graph: Graph): void;
  /** Module address of a file in a graph. */
  urlOf(path: string, graph: Graph): string;
  /** The plugin whose file is named in a line of a stack, and where. */
  inStack(line: string): { readonly pluginId: string; readonly file: string; readonly line: number } | undefined;
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
  const adopted = new Map<string, Graph>();

  const below = (path: string): Folder | undefined => folders.find((folder) => path.startsWith(folder.path));

  function ownerOf(path: string): string | undefined {
    const folder = below(path);
    if (!folder) return adopted.get(path)?.pluginId;
    for (const graph of folder.byToken.values()) {
      const pluginId = graph.files.get(path);
      if (pluginId !== undefined) return pluginId;
    }
    return folder.current.pluginId;
  }

  return {
    open(root, token, exact, pluginId) {
      const path = root.endsWith(sep) ? root : root + sep;
      let folder = folders.find((known) => known.path === path);
      const known = folder?.byToken.get(token);
      const graph: Graph = known ?? { root, token, exact, files: new Map(), sdkNames: [], pluginId };
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
    of(url) {
      const folder = folders.find((known) => url.startsWith(known.url));
      if (folder) {
        const query = url.indexOf(QUERY);
        return query < 0 ? (folder.byToken.get("") ?? folder.current) : folder.byToken.get(decodeURIComponent(url.slice(query + QUERY.length)));
      }
      return adopted.size > 0 && url.startsWith("file:") ? adopted.get(fileURLToPath(url)) : undefined;
    },
    adopt: (path, graph) => void adopted.set(path, graph),
    urlOf(path, graph) {
      const url = pathToFileURL(path).href;
      return graph.token !== "" && below(path)?.path.startsWith(graph.root) === true ? url + QUERY + encodeURIComponent(graph.token) : url;
    },
    inStack(line) {
      const place = /(file:\/\/[^\s?:)]+|\/[^?:()]+|[A-Za-z]:[\\/][^?:()]+)(?:\?[^:\s)]*)?:(\d+)(?::\d+)?\)?$/.exec(line.trimEnd());
      if (!place) return undefined;
      const file = place[1]!.startsWith("file:") ? fileURLToPath(place[1]!) : place[1]!;
      const pluginId = ownerOf(file);
      return pluginId === undefined ? undefined : { pluginId, file, line: Number(place[2]) };
    },
  };
}

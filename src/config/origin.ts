import { dirname } from "node:path";
import type { ConfigDocument, Position, ValuePath } from "./document/document.ts";
import { includePath, INCLUDE_KEY } from "./include.ts";
import { isObject, valueAt } from "./value.ts";

/** A value of one document that takes part in a value of the configuration. */
export interface Source {
  readonly document: ConfigDocument;
  readonly path: ValuePath;
}

/** Finds where values of an include-resolved configuration come from. */
export interface Origins {
  /**
   * The sources of the value at `path`, in the order in which they were merged: several for an object or array put together from several
   * files, none when the path is nowhere.
   */
  sources(path: ValuePath): readonly Source[];
  /** File, line and column of `path`, or of its nearest ancestor that is somewhere. */
  locate(path: ValuePath): Position & { readonly file: string };
}

export function createOrigins(main: ConfigDocument, documents: ReadonlyMap<string, ConfigDocument>): Origins {
  const root = dirname(main.file);

  /** Replaces a source that includes by the roots of what it includes and, if it has more keys, itself. */
  function expand(source: Source, depth: number): Source[] {
    const value = valueAt(source.document.value, source.path);
    if (!isObject(value) || !Object.hasOwn(value, INCLUDE_KEY) || depth > 20) return [source];
    const names = [value[INCLUDE_KEY]].flat().filter((name) => typeof name === "string");
    const included = names.flatMap((name) => {
      const document = documentOf(name, source.document);
      return document ? expand({ document, path: [] }, depth + 1) : [];
    });
    return Object.keys(value).length > 1 ? [...included, source] : included;
  }

  function documentOf(name: string, from: ConfigDocument): ConfigDocument | undefined {
    try {
      return documents.get(includePath(name, from, root));
    } catch {
      return undefined; // It was reported when the includes were resolved.
    }
  }

  function child(layers: readonly Source[], segment: string | number): Source[] {
    const last = layers.at(-1);
    if (!last) return [];
    if (Array.isArray(valueOf(last))) return itemOf(layers, Number(segment));
    const holding = layers.filter((layer) => {
      const value = valueOf(layer);
      return isObject(value) && segment !== INCLUDE_KEY && Object.hasOwn(value, String(segment));
    });
    return effective(holding.flatMap((layer) => expand({ document: layer.document, path: [...layer.path, segment] }, 0)));
  }

  function itemOf(layers: readonly Source[], index: number): Source[] {
    let before = 0;
    for (const layer of layers) {
      const value = valueOf(layer);
      const length = Array.isArray(value) ? value.length : 0;
      if (index < before + length) return effective(expand({ document: layer.document, path: [...layer.path, index - before] }, 0));
      before += length;
    }
    return [];
  }

  function sources(path: ValuePath): readonly Source[] {
    let layers = effective(expand({ document: main, path: [] }, 0));
    for (const segment of path) layers = child(layers, segment);
    return layers;
  }

  return {
    sources,
    locate(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const last = sources(path.slice(0, length)).at(-1);
        const position = last?.document.locate(last.path);
        if (last && position) return { file: last.document.file, ...position };
      }
      return { file: main.file, ...(main.locate([]) ?? { line: 1, column: 1 }) };
    },
  };
}

function valueOf(source: Source): unknown {
  return valueAt(source.document.value, source.path);
}

/** The layers at the end that are merged with each other: all of one kind. A scalar, or another kind, hides what came before. */
function effective(layers: readonly Source[]): Source[] {
  const kind = (layer: Source): string => {
    const value = valueOf(layer);
    return Array.isArray(value) ? "array" : isObject(value) ? "object" : "scalar";
  };
  const last = layers.at(-1);
  if (!last) return [];
  if (kind(last) === "scalar") return [last];
  const other = layers.findLastIndex((layer) => kind(layer) !== kind(last));
  return layers.slice(other + 1);
}

import { readFileSync } from "node:fs";
import { AppError, messageOf } from "../../base/errors.ts";
import { pluginFailed, subjectOf, type ImportedFile, type MissingNames, type PluginFailure } from "./definition.ts";
import type { Graph, Graphs } from "./graphs.ts";
import { ResolveFailure } from "./hooks.ts";
import { stripTypes, SyntaxFailure } from "./strip.ts";

const LINK = /does not provide an export named|^Named export|^Export '.*' is not defined in module|contains conflicting star exports|ambiguous/;

/** Whether modules did not fit together, before any of their code ran. */
export const isLinkFailure = (error: unknown): boolean => error instanceof SyntaxError && LINK.test(error.message);

interface Circumstances {
  readonly entry: ImportedFile;
  readonly graph: Graph;
  readonly graphs: Graphs;
  /** Names that an SDK module has; undefined for a sub-path that is not there. */
  readonly namesOf: (specifier: string) => Promise<ReadonlySet<string> | undefined>;
}

/** The `PLUGIN_FAILED` error for whatever an import threw. Names that the SDK lacks are reported first and all at once. */
export async function explain(error: unknown, { entry, graph, graphs, namesOf }: Circumstances): Promise<AppError> {
  if (error instanceof AppError) return error;
  const missing = await missingNames(graph, namesOf);
  const at = locateFailure(error, entry, graph, graphs);
  const where = at.line === undefined ? at.file : `${at.file}:${at.line}`;
  if (missing.length > 0) {
    const first = graph.sdkNames.find(({ specifier, name }) =>
      missing.some((item) => item.specifier === specifier && (!item.known || item.names.includes(name ?? ""))),
    );
    const list = missing
      .map(({ specifier, known, names }) => `${specifier}${known ? "" : " (no such sub-path)"}${names.length > 0 ? `: ${names.join(", ")}` : ""}`)
      .join("; ");
    const message = `${subjectOf(entry)} needs something that this host's SDK does not have: ${list}; use a version of it made for this host, or update the host`;
    return pluginFailed(message, { pluginId: entry.id, ...(first ? { file: first.file, line: first.line } : at), phase: "link", missing }, error);
  }
  const text = error instanceof ResolveFailure ? error.message : `${subjectOf(entry)} could not be loaded: ${messageOf(error)} (${where})`;
  return pluginFailed(text, { pluginId: entry.id, ...at }, error);
}

async function missingNames(graph: Graph, namesOf: Circumstances["namesOf"]): Promise<MissingNames[]> {
  const wanted = new Map<string, Set<string>>();
  for (const { specifier, name } of graph.sdkNames) {
    const names = wanted.get(specifier) ?? new Set();
    if (name !== undefined) names.add(name);
    wanted.set(specifier, names);
  }
  const missing: MissingNames[] = [];
  for (const [specifier, names] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const has = await namesOf(specifier);
    const lacking = [...names].filter((name) => !has?.has(name)).sort();
    if (!has || lacking.length > 0) missing.push({ specifier, known: has !== undefined, names: lacking });
  }
  return missing;
}

type Place = Pick<PluginFailure, "file" | "line" | "phase">;

function locateFailure(error: unknown, entry: ImportedFile, graph: Graph, graphs: Graphs): Place {
  const at = (file: string, line: number | undefined, phase: Place["phase"]): Place => (line === undefined ? { file, phase } : { file, line, phase });
  if (error instanceof ResolveFailure) return at(error.file, error.line, "resolve");
  if (error instanceof SyntaxFailure) return at(error.file, error.line, "transform");
  const phase = isLinkFailure(error) ? "link" : error instanceof SyntaxError ? "transform" : "import";
  for (const line of error instanceof Error ? (error.stack ?? "").split("\n") : []) {
    const place = graphs.inStack(line, graph);
    if (place) return at(place.file, place.line, phase);
  }
  const last = [...graph.files.keys()].at(-1);
  if (phase === "transform" && last !== undefined) return at(last, lineOfSyntaxError(last), phase);
  return at(entry.source, undefined, phase);
}

/** V8 keeps the place of a syntax error to itself. A file is compiled right after it is loaded; another parser finds the line. */
function lineOfSyntaxError(file: string): number | undefined {
  try {
    stripTypes(readFileSync(file, "utf8"), file);
  } catch (error) {
    if (error instanceof SyntaxFailure) return error.line;
  }
  return undefined;
}

/** The plugin whose code threw `error` or what caused it. */
export function ownerOfError(error: unknown, graphs: Graphs): string | undefined {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if (cause instanceof AppError && typeof cause.details["pluginId"] === "string") return cause.details["pluginId"];
    for (const line of (cause.stack ?? "").split("\n")) {
      const place = graphs.inStack(line);
      if (place) return place.pluginId;
    }
  }
  return undefined;
}

import { AppError } from "../../base/errors.ts";

/** A file of others that is imported: a plugin's entry, or the handler of a hook. */
export interface ImportedFile {
  readonly id: string;
  /** Folder that belongs to it. */
  readonly rootDir: string;
  /** Absolute file to import. */
  readonly source: string;
  /** What errors call it; `plugin` when absent. */
  readonly noun?: string;
}

export const subjectOf = ({ id, noun = "plugin" }: Pick<ImportedFile, "id" | "noun">): string => `${noun} "${id}"`;

/** What a plugin's module exports. Functions are bound to the object they stood on. */
export interface PluginDefinition {
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
  readonly kind?: string | readonly string[];
  readonly configSchema?: unknown;
  readonly register?: (api: unknown) => unknown;
  readonly activate?: (api: unknown) => unknown;
  readonly reload?: unknown;
  readonly nodeHostCommands?: unknown;
  readonly securityAuditCollectors?: unknown;
}

export interface LoadedModule {
  /** Has `register`, `activate` or both. */
  readonly definition: PluginDefinition;
  /** Absolute paths of the plugin's own files that were loaded, in load order. Read again later it also has what was imported since. */
  readonly files: readonly string[];
}

/** `details` of the `PLUGIN_FAILED` error that a failed load throws. */
export interface PluginFailure {
  readonly pluginId: string;
  readonly file: string;
  /** In `file`, from 1; as its author wrote it. */
  readonly line?: number;
  readonly phase: "resolve" | "transform" | "link" | "import" | "export";
  /** Missing SDK names by specifier (`openclaw/plugin-sdk/…`); `known` is false where the whole sub-path is missing. */
  readonly missing?: readonly MissingNames[];
}

export interface MissingNames {
  readonly specifier: string;
  readonly known: boolean;
  readonly names: readonly string[];
}

/** The error of a plugin that could not be loaded. */
export function pluginFailed(message: string, details: PluginFailure, cause?: unknown): AppError {
  return new AppError("PLUGIN_FAILED", message, { details: { ...details }, ...(cause === undefined ? {} : { cause }) });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const hasEntry = (value: Record<string, unknown>): boolean => typeof value["register"] === "function" || typeof value["activate"] === "function";

/**
 * The definition in a module namespace: its `default` if it has one, else the namespace. CommonJS that was compiled from ESM has its own
 * `default` inside of that. Undefined where there is nothing to register with.
 */
export function definitionOf(namespace: Readonly<Record<string, unknown>>): PluginDefinition | undefined {
  let value: unknown = "default" in namespace ? namespace["default"] : namespace;
  for (let depth = 0; depth < 2 && isObject(value) && "default" in value && (value["__esModule"] === true || !hasEntry(value)); depth += 1)
    value = value["default"];
  if (typeof value === "function") return { register: value as (api: unknown) => unknown };
  if (!isObject(value) || !hasEntry(value)) return undefined;
  return fieldsOf(value);
}

const TEXTS = ["id", "name", "description", "version"] as const;
const OTHERS = ["kind", "configSchema", "reload", "nodeHostCommands", "securityAuditCollectors"] as const;

function fieldsOf(value: Record<string, unknown>): PluginDefinition {
  const fields: Record<string, unknown> = {};
  for (const key of TEXTS) if (typeof value[key] === "string") fields[key] = value[key];
  for (const key of OTHERS) if (value[key] !== undefined) fields[key] = value[key];
  for (const key of ["register", "activate"] as const) {
    const entry = value[key];
    if (typeof entry === "function") fields[key] = entry.bind(value);
  }
  return fields;
}

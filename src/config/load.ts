import { isObject, mapValues, valueAt } from "./value.ts";
import { join } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import { parseDocument, type ConfigDocument, type ValuePath } from "./document/document.ts";
import { addEnvBlock, readEnvironmentFiles, substitute, type MissingVariable, type MutableEnv } from "./environment.ts";
import type { Env } from "./env.ts";
import { resolveIncludes, type Included } from "./include.ts";
import { migrate, pathBeforeMigration, type MigrationReport } from "./migrate/index.ts";
import { mayHaveForeignPlugins } from "./names-plugins.ts";
import { createOrigins, type Origins } from "./origin.ts";
import { dottedPath } from "./path.ts";
import { configFile, expandHome, homeFolder, isManaged, stateFolder, type PathContext } from "./paths.ts";
import { configSchema, type OpenClawConfig } from "./schema/index.ts";
import { sha256 } from "./sha256.ts";
import type { LocatedIssue, Snapshot } from "./snapshot.ts";
import { diskFiles, type ConfigFiles } from "./source-files.ts";
import {
  applyDefaults,
  applyLoadDefaults,
  pluginsSection,
  unavailableFeatures,
  validateConfig,
  validateSections,
  type ConfigSections,
  type KnownNames,
} from "./validate/index.ts";

/** The version that last wrote the file, when it is newer than `own`. */
function newerVersion(config: unknown, own: string | undefined): string | undefined {
  const touched = valueAt(config, ["meta", "lastTouchedVersion"]);
  if (own === undefined || typeof touched !== "string") return undefined;
  const [theirs, ours] = [parts(touched), parts(own)];
  if (!theirs || !ours) return undefined;
  for (const [at, part] of theirs.entries()) {
    const ownPart = ours[at] ?? 0;
    if (part !== ownPart) return part > ownPart ? touched : undefined;
  }
  return undefined;
}

function parts(version: string): number[] | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version.trim());
  return match ? match.slice(1).map((part) => Number(part ?? 0)) : undefined;
}

const PATH_KEY = /(?:dir|path|paths|file|root|workspace)$/i;
const PATH_LISTS: ReadonlySet<string> = new Set(["paths", "pathPrepend"]);

/** Replaces a leading `~` in values whose key says that they are paths. */
function expandPaths(value: unknown, home: string, key = "", inList = false): unknown {
  if (typeof value === "string") return value.startsWith("~") && (inList ? PATH_LISTS.has(key) : PATH_KEY.test(key)) ? expandHome(value, home) : value;
  return mapValues(value, (child, name) => (typeof name === "number" ? expandPaths(child, home, key, true) : expandPaths(child, home, name)));
}

export interface LoadOptions {
  /** The file; found from the environment when absent. */
  readonly path?: string | undefined;
  readonly env: Env;
  readonly osHome: string;
  readonly cwd: string;
  readonly files?: ConfigFiles | undefined;
  /** Schemas of what plugins and channels bring. */
  readonly sections?: ConfigSections | undefined;
  /** Schemas that became known while running: what they find wrong is only a warning, and they give no defaults. */
  readonly learned?: ConfigSections | undefined;
  /** Names that plugins brought, as far as they are known. */
  readonly names?: KnownNames | undefined;
  /** Stands for the main file, which is not read. */
  readonly document?: ConfigDocument | undefined;
  /** This program's version, to notice a file that a newer one wrote. */
  readonly version?: string | undefined;
}

/** A snapshot and what it was made from. */
export interface Loaded {
  readonly snapshot: Snapshot;
  /** The environment with `.env` files and the file's `env` block. */
  readonly env: MutableEnv;
  /** The value with includes put in, before variables. */
  readonly unresolved: unknown;
  readonly documents: ReadonlyMap<string, ConfigDocument>;
  readonly origins: Origins;
  /** File, line and column of a path of the configuration, or of its nearest ancestor that is in a file. */
  readonly locate: Origins["locate"];
  /** Files whose change may change the configuration, whether they exist or not. */
  readonly watched: readonly string[];
  readonly paths: { readonly home: string; readonly state: string };
}

/** Reads, resolves and checks the configuration. Never throws for what a file contains: that is in the snapshot's issues. */
export function loadConfig(options: LoadOptions): Loaded {
  const files = options.files ?? diskFiles;
  const context: PathContext = { env: options.env, exists: files.exists, osHome: options.osHome, cwd: options.cwd };
  const state = stateFolder(context);
  const environment = readEnvironmentFiles(options.env, { cwd: options.cwd, state }, files);
  const path = options.path ?? configFile(context);
  const main = options.document ? given(options.document) : readMain(path, files);
  const included: Included = main.document.root
    ? resolveIncludes(main.document, files)
    : { value: {}, documents: new Map([[path, main.document]]), issues: [], named: new Set() };
  const refused = [...environment.refused];
  const env = addEnvBlock(environment.env, included.value, refused);
  const missing: MissingVariable[] = [];
  const resolved = substitute(included.value, env, missing);
  const migrated = migrate(resolved);
  const origins = createOrigins(main.document, included.documents);
  const place = (at: ValuePath) => origins.locate(pathBeforeMigration(at, migrated.report));
  const home = homeFolder(context);

  const found: LocatedIssue[] = [
    ...main.problems,
    ...documentIssues(included),
    ...refused.map((text) =>
      remark(path, "refused_variable", `${text} is not used: it would make programs load other code or files; set it in the environment`),
    ),
    ...missing.map((variable) => ({
      ...place(variable.path),
      path: dottedPath(variable.path),
      message: variable.message,
      code: "missing_variable",
      severity: "error" as const,
    })),
    ...legacyIssues(migrated.report, origins, isManaged(options.env)),
    ...versionIssues(migrated.value, path, options.version),
  ];
  if (main.document.root && included.issues.length === 0)
    found.push(...schemaIssues(migrated.value, { ...options, names: knownNames(migrated.value, options, files, state), missing, place }));
  const valid = !found.some((issue) => issue.severity === "error");
  // Errors come first: what has no effect is mentioned in a file that is otherwise right.
  if (valid) found.push(...unavailableIssues(migrated.value, place));
  let config: OpenClawConfig | undefined;
  const dotenv = environment.files.filter((file) => files.exists(file));
  const snapshot: Snapshot = {
    path,
    exists: main.exists,
    raw: main.raw,
    get hash() {
      return main.bytes ? sha256(main.bytes) : "";
    },
    parsed: main.document.value,
    resolved: main.document.root ? resolved : {},
    get config() {
      return (config ??= valid ? finished(migrated.value, env, home, options.sections) : {});
    },
    valid,
    issues: found.filter((issue) => issue.severity === "error"),
    warnings: found.filter((issue) => issue.severity === "warning"),
    legacy: migrated.report,
    files: [...included.documents.keys(), ...dotenv],
    source: "file",
  };
  const watched = [...new Set([...included.documents.keys(), ...included.named, ...environment.files])];
  return { snapshot, env, unresolved: included.value, documents: included.documents, origins, locate: place, watched, paths: { home, state } };
}

function unavailableIssues(value: unknown, place: (at: ValuePath) => ReturnType<Origins["locate"]>): LocatedIssue[] {
  return isObject(value) ? unavailableFeatures(value).map((issue) => ({ ...issue, ...place(issue.path), path: dottedPath(issue.path) })) : [];
}

function finished(value: unknown, env: Env, home: string, sections: ConfigSections | undefined): OpenClawConfig {
  const defaulted = applyDefaults(value as OpenClawConfig, configSchema, sections);
  return expandPaths(applyLoadDefaults(defaulted, env), home) as OpenClawConfig;
}

interface MainFile {
  readonly document: ConfigDocument;
  readonly exists: boolean;
  readonly raw: string | null;
  readonly bytes: Uint8Array | undefined;
  readonly problems: readonly LocatedIssue[];
}

function given(document: ConfigDocument): MainFile {
  return { document, exists: true, raw: document.text, bytes: Buffer.from(document.text), problems: [] };
}

/** The main file; one that is not there counts as `{}`. */
function readMain(path: string, files: ConfigFiles): MainFile {
  try {
    const bytes = files.read(path);
    const document = parseDocument(bytes, path);
    const isText = document.root !== undefined || document.text !== "" || bytes.length === 0;
    return { document, exists: true, raw: isText ? document.text : null, bytes, problems: [] };
  } catch (error) {
    const absent = error instanceof AppError && error.code === "NOT_FOUND";
    if (absent) return { document: parseDocument("{}", path), exists: false, raw: null, bytes: undefined, problems: [] };
    const problem = { path: "", file: path, line: 1, column: 1, message: messageOf(error), code: "unreadable", severity: "error" as const };
    return { document: { ...parseDocument("", path), issues: [] }, exists: true, raw: null, bytes: undefined, problems: [problem] };
  }
}

function documentIssues(included: Included): LocatedIssue[] {
  const own = [...included.documents.values()].flatMap((document) =>
    document.issues.map(({ path, line, column, message, expected, code, severity }) => {
      return { path: dottedPath(path), file: document.file, line, column, message, ...(expected === undefined ? {} : { expected }), code, severity };
    }),
  );
  const includes = included.issues.map(({ document, path, configPath, message }) => {
    const position = document.locate([...path, "$include"]) ?? { line: 1, column: 1 };
    return { path: dottedPath(configPath), file: document.file, ...position, message, code: "include", severity: "error" as const };
  });
  return [...own, ...includes];
}

function legacyIssues(report: MigrationReport, origins: Origins, managed: boolean): LocatedIssue[] {
  return report.map(({ from, fromPath, to, note }) => {
    const advice = to === "" ? `${from} is an old key: ${note}` : `${from} is an old key: ${note === "" ? `it moved to ${to}` : note}`;
    const rest = managed ? "this file is managed from outside, change it there" : note.startsWith("dropped") ? "it can be removed" : "it works as it is";
    const message = `${advice}; ${rest}`;
    return { ...origins.locate(fromPath), path: dottedPath(fromPath), message, suggestion: to, code: "legacy_key", severity: managed ? "error" : "warning" };
  });
}

function versionIssues(value: unknown, path: string, version: string | undefined): LocatedIssue[] {
  const touched = newerVersion(value, version);
  return touched === undefined
    ? []
    : [remark(path, "newer_version", `the file was written by version ${touched}, this is ${version}; settings it added may be refused`)];
}

function remark(file: string, code: string, message: string): LocatedIssue {
  return { path: "", file, line: 1, column: 1, message, code, severity: "warning" };
}

/** What is known about names: from plugins that were looked at for this very configuration, or that there can be no plugin with names of its own. */
function knownNames(value: unknown, { names, env }: LoadOptions, files: ConfigFiles, state: string): KnownNames | undefined {
  if (names && (names.section === undefined || names.section === pluginsSection(value))) return names;
  const { hasEntries } = files;
  if (!hasEntries || env["OPENCLAW_BUNDLED_PLUGINS_DIR"]?.trim()) return undefined;
  return mayHaveForeignPlugins(value, () => hasEntries(join(state, "extensions"))) ? undefined : { complete: true };
}

interface SchemaContext extends Pick<LoadOptions, "sections" | "learned" | "names"> {
  readonly missing: readonly MissingVariable[];
  readonly place: Origins["locate"];
}

/** What the schema and the rules across keys say, except about values that wait for a variable. */
function schemaIssues(value: unknown, { missing, place, sections, learned, names }: SchemaContext): LocatedIssue[] {
  const waiting = new Set(missing.map((variable) => dottedPath(variable.path)));
  const doubts = learned ? validateSections(value, learned).map((issue) => ({ ...issue, severity: "warning" as const })) : [];
  return [...validateConfig(value, { sections: { ...sections, names } }), ...doubts]
    .filter((issue) => !waiting.has(dottedPath(issue.path)))
    .map(({ path, ...issue }) => ({ ...place(path), ...issue, path: dottedPath(path) }));
}

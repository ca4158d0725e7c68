import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { changesBetween, diffPaths } from "./diff.ts";
import type { Env } from "./env.ts";
import { loadConfig, type LoadOptions, type Loaded } from "./load.ts";
import { redactConfig, redactText, tellSecrets } from "./redact.ts";
import { missingFile, withoutFile, withoutRefused } from "./missing-file.ts";
import { planReload, type ReloadMode, type ReloadPlan } from "./reload-rules.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import { resolveSecret, type RunProgram, type SecretInput, type SecretsDeps } from "./secrets.ts";
import { importShellVariables, shellImportTimeout, type RunShell } from "./shell-environment.ts";
import { formatLocated, type Snapshot } from "./snapshot.ts";
import { diskFiles } from "./source-files.ts";
import type { ConfigReview, ReviewDeps } from "./review/index.ts";
import { hasUnexplainedNames, type ConfigSections, type KnownNames } from "./validate/index.ts";
import { hasPath, isObject, valueAt, withValue, withoutPath } from "./value.ts";
import { createVersionKeeper, type VersionKeeper } from "./version-keeper.ts";
import type { WatchFolder } from "./watch.ts";
import type { ConfigEdit, ReviewWrite } from "./write/index.ts";

interface Taken {
  readonly inUse: Loaded;
  readonly plan: ReloadPlan;
}

/** What a newly read configuration changes. `holds`: what the mode leaves for the next restart stays as it was. */
function takeIn(before: Loaded, next: Loaded, mode: ReloadMode, facts: { readonly channels: readonly string[]; readonly holds: boolean }): Taken {
  const planned = planReload(diffPaths(before.snapshot.config, next.snapshot.config), mode, facts.channels);
  if (!facts.holds) return { inUse: next, plan: { paths: planned.paths, actions: planned.actions } };
  const { held = [] } = planned;
  const keepEnv = mode === "off" || held.some((path) => path === "env" || path.startsWith("env."));
  return { inUse: held.length > 0 || keepEnv ? withHeld(before, next, held, keepEnv) : next, plan: planned };
}

/**
 * What is in use after a change of which `held` waits for a restart: the texts and positions of the new file, and its values except at those paths.
 * Variables stay as they were when the values that come from them do.
 */
function withHeld(before: Loaded, next: Loaded, held: readonly string[], keepEnv: boolean): Loaded {
  const waiting = new Set(held);
  const kept = changesBetween(before.snapshot.config, next.snapshot.config).filter(({ path }) => waiting.has(path.join(".")));
  let config: unknown = next.snapshot.config;
  for (const { path, before: value } of kept) {
    config = value === undefined ? withoutValue(config, path, before.snapshot.config) : (withValue(config, path, value)?.value ?? config);
  }
  return { ...next, env: keepEnv ? before.env : next.env, snapshot: { ...next.snapshot, config: config as OpenClawConfig } };
}

/** Without a key, and without the objects that are empty then and that `like` does not have. */
function withoutValue(config: unknown, path: readonly string[], like: unknown): unknown {
  let next = withoutPath(config, path);
  for (let depth = path.length - 1; depth > 0; depth -= 1) {
    const above = path.slice(0, depth);
    const object = valueAt(next, above);
    if (!isObject(object) || Object.keys(object).length > 0 || hasPath(like, above)) break;
    next = withoutPath(next, above);
  }
  return next;
}

export interface ConfigOptions extends Omit<LoadOptions, "version"> {
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** `start`: a broken file gives way to the last good one, or `CONFIG_INVALID`. `inspect`: a broken file gives an invalid snapshot. */
  readonly purpose: "start" | "inspect";
  /** Asks the login shell; without it nothing is imported from there. */
  readonly runShell?: RunShell | undefined;
  /** Runs programs for secrets with `source: "exec"`. */
  readonly run?: RunProgram | undefined;
  /** Called with every secret in use, so that logs can redact it. */
  readonly onSecret?: ((value: string) => void) | undefined;
  readonly warn?: ((message: string) => void) | undefined;
  /** Why a valid configuration cannot be run with; one that changes to such is kept out as a broken one is. */
  readonly refuses?: ((snapshot: Snapshot) => string | undefined) | undefined;
  /** Looks at plugins for the names that they bring. Asked at the beginning, and only when the file has names that nothing else explains. */
  readonly lookUpNames?: ((loaded: Loaded) => Promise<KnownNames | undefined>) | undefined;
  /** What else is wrong with what an edit changes: such an edit is refused. Not asked about edits with `isRestore`. */
  readonly reviewWrite?: ReviewWrite | undefined;
}

/** Something happened to the file. */
export type ConfigEvent =
  | {
      readonly kind: "changed";
      readonly before: Snapshot;
      readonly after: Snapshot;
      readonly plan: ReloadPlan;
      /** The caller restarts the gateway when it suits them. */
      readonly restartFollows: boolean;
    }
  /** The file is broken; what was in use stays. */
  | { readonly kind: "invalid"; readonly snapshot: Snapshot; readonly message: string }
  /** The file was broken and says again what is in use. */
  | { readonly kind: "mended"; readonly snapshot: Snapshot };

export interface EditOptions {
  readonly baseHash?: string | undefined;
  readonly requireBaseHash?: boolean | undefined;
  readonly by: string;
  /** The caller restarts the gateway afterwards: the change itself asks for no restart. */
  readonly restartFollows?: boolean | undefined;
  /** Puts an earlier configuration back, which is possible whatever plugins think of it today. */
  readonly isRestore?: boolean | undefined;
  /** What must be there before the file says that it is; a rejection refuses the edit. */
  readonly beforeWrite?: (() => Promise<void>) | undefined;
}

export interface Config extends Disposable {
  /** The configuration in use. */
  readonly current: OpenClawConfig;
  readonly paths: { readonly home: string; readonly state: string; readonly file: string };
  /** The environment, with `.env` files, the `env` block and the login shell's variables. */
  env(): Env;
  snapshot(): Snapshot;
  /** Files that decide what the configuration is, whether they exist yet or not: those of the configuration in use, and those that the last reading asked for. */
  sources(): readonly string[];
  /** Where a path of the configuration in use stands, or its nearest ancestor that is in a file. */
  locate: Loaded["locate"];
  /** The snapshot with secrets replaced by the sentinel. */
  shown(): Snapshot;
  onEvent(listener: (event: ConfigEvent) => void): Disposable;
  /** Reads the file again now. Listeners are notified about changes. */
  reload(): Snapshot;
  /** Follows the file, its includes and the `.env` files from now on. */
  watch(options?: { readonly channels?: () => readonly string[]; readonly watchFolder?: WatchFolder }): Promise<void>;
  /** Changes the file and takes the result in use. Edits run one after the other. */
  edit(edit: ConfigEdit, options: EditOptions): Promise<{ readonly snapshot: Snapshot; readonly files: readonly string[] }>;
  resolveSecret(input: SecretInput, path: string): Promise<string>;
  /** Dotted paths at which the file differs from what is in use. */
  pendingChanges(): readonly string[];
  /** Keeps the configuration in use as the one to fall back to. Call it when the gateway runs with it. */
  keepAsGood(): Promise<void>;
  /**
   * Replaces what is known of the schemas of plugins and channels, and checks the file again: what they find wrong becomes a warning, what they mark as
   * secret is hidden. The configuration in use stays what it is.
   */
  extend(sections: ConfigSections): Snapshot;
  /** Replaces what is known of the names that plugins bring, and checks the file again: one that means nothing makes it invalid where it was to deny something. */
  know(names: KnownNames): Snapshot;
  /** For looking at a configuration before it is written, and at earlier ones. */
  review(): Promise<ConfigReview>;
}

export async function openConfig(options: ConfigOptions): Promise<Config> {
  let learned: ConfigSections | undefined;
  let names: KnownNames | undefined;
  let shell: Env = {};
  const loading: Loading = {
    load: () => ({ ...options, learned, names, env: { ...shell, ...withoutBlank(options.env, shell) } }),
    extend: (next) => void (learned = next),
    know: (next) => void (names = next),
  };
  let first = loadConfig(loading.load());
  shell = await shellVariables(first, options);
  if (Object.keys(shell).length > 0) first = loadConfig(loading.load());
  if (options.lookUpNames && hasUnexplainedNames(first.snapshot.resolved)) {
    names = await options.lookUpNames(first);
    if (names) first = loadConfig(loading.load());
  }
  if (options.purpose === "start" && !(first.snapshot.valid && first.snapshot.exists)) {
    const { fallBack, isKept } = await import("./last-good.ts");
    const isGone = !first.snapshot.exists && isKept(first.paths.state, first.snapshot.path);
    if (isGone || !first.snapshot.valid) first = fallBack(isGone ? withoutFile(first) : first, loading.load());
  }
  return createConfig(first, options, loading);
}

/** Variables of the login shell, when the file or the environment asks for them. */
async function shellVariables({ env, unresolved }: Loaded, options: ConfigOptions): Promise<Env> {
  const timeoutMs = options.runShell && shellImportTimeout(unresolved, env);
  if (!options.runShell || timeoutMs === undefined) return {};
  try {
    return await importShellVariables(env, timeoutMs, options.runShell);
  } catch (error) {
    options.warn?.(`could not read variables from the login shell: ${messageOf(error)}`);
    return {};
  }
}

/** A variable that is set but blank does not stand in the way of one from the shell. */
function withoutBlank(env: Env, shell: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => shell[name] === undefined || value?.trim()));
}

interface Loading {
  load(): LoadOptions;
  extend(sections: ConfigSections): void;
  know(names: KnownNames): void;
}

function createConfig(first: Loaded, options: ConfigOptions, loading: Loading): Config {
  const listeners = new Set<(event: ConfigEvent) => void>();
  let inUse = first;
  let lastRead = first;
  let broken = first.snapshot.source === "last-good";
  let hasHeld = false;
  const isRunning = options.purpose === "start";
  let hadFile = isRunning && (first.snapshot.exists || broken);
  let channels: () => readonly string[] = () => [];
  let watching: (Disposable & { follow(paths: readonly string[]): void }) | undefined;
  const ports = secretPorts(options, () => inUse.env, first.paths.home);
  const load = (): LoadOptions => ({ ...loading.load(), path: first.snapshot.path });
  const sections = (): ConfigSections | undefined => allSections(load());
  const place = { state: first.paths.state, path: first.snapshot.path };
  const versions = createVersionKeeper(place, options);
  const tell = (loaded: Loaded): void => tellAll(loaded, options.onSecret, sections());
  const emit = (event: ConfigEvent): void => listeners.forEach((listener) => listener(event));
  tell(first);

  function reload({ restartFollows = false, isFileNews = true } = {}): Snapshot {
    const loaded = loadConfig(load());
    // A file that was there and is gone is a broken one: the empty configuration never takes its place.
    const next = hadFile && !loaded.snapshot.exists ? withoutFile(loaded) : withoutRefused(loaded, options.refuses);
    const { snapshot } = (lastRead = next);
    hadFile ||= isRunning && snapshot.exists;
    watching?.follow(next.watched);
    if (watching) versions.keep(snapshot);
    if (!snapshot.valid) {
      broken = true;
      if (options.purpose === "inspect") inUse = next;
      emit({ kind: "invalid", snapshot, message: `config reload skipped (invalid config): ${snapshot.issues.map(formatLocated).join("; ")}` });
      return snapshot;
    }
    const before = inUse;
    tell(next);
    // Nothing waits in a command that only looks, nor when it is the schemas of plugins that changed and not the file.
    const facts = { channels: channels(), holds: isRunning && (isFileNews || hasHeld) };
    const { inUse: taken, plan } = takeIn(before, next, reloadMode(snapshot.config), facts);
    // Written while the gateway was opening: nobody listens yet who could act on it. `watch` takes it.
    if (isRunning && !isFileNews && !watching && plan.paths.length > 0) return snapshot;
    inUse = taken;
    hasHeld = plan.held !== undefined;
    if (plan.paths.length > 0) emit({ kind: "changed", before: before.snapshot, after: inUse.snapshot, plan, restartFollows });
    else if (broken) emit({ kind: "mended", snapshot });
    broken = false;
    return snapshot;
  }

  return {
    get current() {
      return inUse.snapshot.config;
    },
    paths: { ...first.paths, file: first.snapshot.path },
    env: () => inUse.env,
    snapshot: () => inUse.snapshot,
    sources: () => [...new Set([first.snapshot.path, ...inUse.snapshot.files, ...inUse.watched, ...lastRead.watched])],
    locate: (path) => inUse.locate(path),
    shown: () => shownSnapshot(inUse, sections()),
    onEvent(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    reload: () => reload(),
    async watch(watchOptions = {}) {
      channels = watchOptions.channels ?? channels;
      const { watchFiles } = await import("./watch.ts");
      watching?.[Symbol.dispose]();
      const debounceMs = (): number => numberAt(inUse.snapshot.config, "debounceMs") ?? 300;
      watching = watchFiles({ ...watchOptions, clock: options.clock, debounceMs, onSettled: () => void reload() });
      watching.follow(inUse.watched);
      // What changed between the load and now would otherwise never be noticed.
      reload();
    },
    edit: createEdits({ options, load, place: { file: place.path, state: place.state }, versions, reload, hadFile: () => hadFile }),
    resolveSecret: (input, path) => resolveSecret(input, path, ports),
    pendingChanges: () => diffPaths(inUse.snapshot.config, loadConfig(load()).snapshot.config),
    async keepAsGood() {
      (await import("./last-good.ts")).keepLastGood(inUse, { now: options.clock.now(), ids: options.ids });
      versions.settle(inUse.snapshot);
    },
    extend: (learned) => (loading.extend(learned), reload({ isFileNews: false })),
    know: (names) => (loading.know(names), reload({ isFileNews: false })),
    review: lazyReview({ load, current: () => inUse.snapshot.config, modeOf: reloadMode, channels: () => channels(), sections, place }),
    [Symbol.dispose]: () => (watching?.[Symbol.dispose](), listeners.clear()),
  };
}

/** Tells every secret of a configuration. */
function tellAll({ snapshot: { resolved, config } }: Loaded, onSecret: ConfigOptions["onSecret"], sections: ConfigSections | undefined): void {
  if (onSecret) for (const value of [resolved, config]) tellSecrets(value, onSecret, sections);
}

interface EditsDeps {
  readonly options: ConfigOptions;
  readonly load: () => LoadOptions;
  readonly place: { readonly file: string; readonly state: string };
  readonly versions: VersionKeeper;
  /** The configuration in use came from a file. */
  readonly hadFile: () => boolean;
  readonly reload: (options: { readonly restartFollows: boolean }) => Snapshot;
}

/** Edits run one after the other. */
function createEdits({ options, load, place, versions, reload, hadFile }: EditsDeps): Config["edit"] {
  const expectsFile = async (): Promise<string | undefined> => {
    const { isKept } = await import("./last-good.ts");
    return hadFile() || isKept(place.state, place.file) ? missingFile(place.file, place.state) : undefined;
  };
  let edits: Promise<unknown> = Promise.resolve();
  return (edit, editOptions) => {
    const run = edits.then(async () => {
      const { writeLocked } = await import("./write/locked.ts");
      const written = await writeLocked(
        { edit, ...editOptions },
        {
          ...options,
          ...place,
          reviewWrite: editOptions.isRestore ? undefined : options.reviewWrite,
          load: load(),
          replacing: await versions.keeper(),
          expectsFile: await expectsFile(),
        },
      );
      if (written.files.length === 0) return { snapshot: written.after.snapshot, files: [] };
      versions.keep(written.after.snapshot);
      return { snapshot: reload({ restartFollows: editOptions.restartFollows ?? false }), files: written.files };
    });
    edits = run.catch(() => {});
    return run;
  };
}

function lazyReview(deps: ReviewDeps): Config["review"] {
  let review: ConfigReview | undefined;
  return async () => {
    const { createReview } = await import("./review/index.ts");
    return (review ??= createReview(deps));
  };
}

function secretPorts(options: ConfigOptions, env: () => Env, home: string): SecretsDeps {
  const { mode, read } = options.files ?? diskFiles;
  const { run, onSecret, warn, cwd } = options;
  return { env, readFile: read, mode, run, home, cwd, onSecret, warn };
}

function reloadSettings(config: OpenClawConfig): Record<string, unknown> {
  const reload = config.gateway?.reload;
  return isObject(reload) ? reload : {};
}

function numberAt(config: OpenClawConfig, key: string): number | undefined {
  const value = reloadSettings(config)[key];
  return typeof value === "number" ? value : undefined;
}

function reloadMode(config: OpenClawConfig): ReloadMode {
  const { mode } = reloadSettings(config);
  return mode === "hot" || mode === "restart" || mode === "off" ? mode : "hybrid";
}

/** Of what is known about sections, the newest. */
function allSections({ sections, learned }: LoadOptions): ConfigSections | undefined {
  if (!sections || !learned) return learned ?? sections;
  return { ...sections, ...learned, channels: { ...sections.channels, ...learned.channels }, plugins: { ...sections.plugins, ...learned.plugins } };
}

function shownSnapshot(loaded: Loaded, sections: ConfigSections | undefined): Snapshot {
  const { snapshot } = loaded;
  const document = loaded.documents.get(snapshot.path);
  return {
    ...snapshot,
    raw: snapshot.raw === null || !document || snapshot.source === "last-good" ? null : redactText(document, sections),
    parsed: redactConfig(snapshot.parsed, sections),
    resolved: redactConfig(snapshot.resolved, sections),
    config: redactConfig(snapshot.config, sections),
  };
}

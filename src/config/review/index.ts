/** Looking at a configuration before it is written, and going back to an earlier one. Loaded on demand. */
import { AppError } from "../../base/errors.ts";
import { changesBetween, diffPaths } from "../diff.ts";
import { parseDocument, type ConfigDocument } from "../document/document.ts";
import { rewriteDocument } from "../document/edit.ts";
import { loadConfig, type Loaded, type LoadOptions } from "../load.ts";
import { dottedPath, formatPath, parsePath } from "../path.ts";
import { redactAt, redactText, restoreRedacted } from "../redact.ts";
import { actionsFor, planReload, type ReloadAction, type ReloadMode } from "../reload-rules.ts";
import type { OpenClawConfig } from "../schema/index.ts";
import type { LocatedIssue } from "../snapshot.ts";
import type { ConfigSections } from "../validate/index.ts";
import { hasPath, valueAt, withoutPath, withValue } from "../value.ts";
import { keptVersions, readVersion, type VersionPlace } from "./versions.ts";

/** What a text would mean as the configuration file. */
export interface ConfigCheck {
  /** For those who know more about it: what plugins say. */
  readonly loaded: Loaded;
  readonly issues: readonly LocatedIssue[];
  readonly warnings: readonly LocatedIssue[];
  readonly changes: readonly ShownChange[];
  readonly reload: ReloadWords;
}

export interface TextEdit {
  /** Without it: the file, with its secrets hidden. */
  readonly raw?: string | undefined;
  readonly set?: readonly { readonly path: string; readonly value: unknown }[] | undefined;
  readonly unset?: readonly string[] | undefined;
}

export interface ListedVersion {
  readonly id: string;
  readonly at: number;
  readonly bytes: number;
  readonly hash: string;
  /** It is what the file says now. */
  readonly current: boolean;
  readonly valid: boolean;
}

export interface ConfigReview {
  /** Hidden secrets in the text stand for those of the file. Nothing is written. */
  check(text: string): ConfigCheck;
  /** The text with values set and removed; comments and order are kept, and what is hidden stays hidden. */
  edit(edit: TextEdit): string;
  /** Newest first. */
  versions(): readonly ListedVersion[];
  /** A version with its secrets hidden, and what going back to it would change. */
  version(id: string): { readonly raw: string; readonly changes: readonly ShownChange[] };
  /** What changing each of some keys makes happen. A key that does what the key above it does is left out. */
  effects(keys: readonly string[]): ReadonlyMap<string, ChangeEffect>;
  /** What going back to a version takes: its text, with its secrets, and what that makes happen. */
  restoring(id: string): { readonly text: string; readonly reload: ReloadWords };
}

export interface ReviewDeps {
  readonly load: () => LoadOptions;
  readonly current: () => OpenClawConfig;
  readonly modeOf: (config: OpenClawConfig) => ReloadMode;
  readonly channels: () => readonly string[];
  /** For what is hidden. */
  readonly sections: () => ConfigSections | undefined;
  readonly place: VersionPlace;
}

/** The text as the main file, its sentinels replaced by what the file has; places are those of the text. */
function documentOf(text: string, before: Loaded): { readonly document: ConfigDocument; readonly lost: readonly LocatedIssue[] } {
  const { path: file, parsed } = before.snapshot;
  const shown = parseDocument(text, file);
  if (!shown.root) return { document: shown, lost: [] };
  const lost: LocatedIssue[] = [];
  const onLost = (path: readonly (string | number)[]): void => {
    const place = shown.locate(path) ?? { line: 1, column: 1 };
    const message = "this is a hidden secret, but the file has none here; enter the secret itself, or remove the key";
    lost.push({ path: dottedPath(path), file, ...place, message, code: "hidden_secret", severity: "error" });
  };
  return { document: { ...shown, value: restoreRedacted(shown.value, parsed, { onLost }) }, lost };
}

export function createReview(deps: ReviewDeps): ConfigReview {
  const { place } = deps;
  /** Validity of versions that were looked at, by hash; a version never changes. */
  const known = new Map<string, boolean>();
  const loadFile = (): Loaded => loadConfig({ ...deps.load(), learned: undefined });
  const loadText = (document: ConfigDocument): Loaded => loadConfig({ ...deps.load(), learned: undefined, document });

  function reloadTo(next: Loaded): ReloadWords {
    if (!next.snapshot.valid) return { kind: "none", paths: [] };
    const { config } = next.snapshot;
    return describeReload(diffPaths(deps.current(), config), deps.modeOf(config), deps.channels());
  }

  function check(text: string): ConfigCheck {
    const before = loadFile();
    const { document, lost } = documentOf(text, before);
    const loaded = loadText(document);
    const { snapshot } = loaded;
    const hidden = new Set(lost.map(({ path }) => path));
    return {
      loaded,
      issues: [...lost, ...snapshot.issues.filter(({ path }) => !hidden.has(path))],
      warnings: snapshot.warnings,
      changes: document.root ? shownChanges(before.unresolved, loaded.unresolved, deps.sections()) : [],
      reload: lost.length > 0 ? { kind: "none", paths: [] } : reloadTo(loaded),
    };
  }

  function fileText(): string {
    const { snapshot, documents } = loadFile();
    const document = documents.get(snapshot.path);
    if (document?.root) return snapshot.exists ? redactText(document, deps.sections()) : "{}\n";
    throw new AppError("INVALID_INPUT", `${snapshot.path} is not JSON5, so nothing can be set in it; fix it first, or send the text to edit`);
  }

  return {
    check,
    edit({ raw, set = [], unset = [] }) {
      const document = parseDocument(raw ?? fileText());
      if (!document.root) throw new AppError("INVALID_INPUT", document.issues[0]?.message ?? "the text is not JSON5");
      let { value } = document;
      for (const path of unset.map(parsePath)) if (hasPath(value, path)) value = withoutPath(value, path);
      for (const { path, value: next } of set) {
        const changed = withValue(value, parsePath(path), next);
        if (!changed) throw new AppError("INVALID_INPUT", `${formatPath(parsePath(path))} cannot be set: a list takes an index up to its length`);
        ({ value } = changed);
      }
      return rewriteDocument(document, value);
    },
    versions() {
      const { hash } = loadFile().snapshot;
      return keptVersions(place).flatMap((version) => {
        try {
          const text = readVersion(place, version.id);
          let valid = known.get(version.hash);
          if (valid === undefined) known.set(version.hash, (valid = loadText(parseDocument(text, place.path)).snapshot.valid));
          return [{ ...version, bytes: Buffer.byteLength(text), current: version.hash === hash, valid }];
        } catch (error) {
          // Another process pruned it meanwhile.
          if (error instanceof AppError && error.code === "NOT_FOUND") return [];
          throw error;
        }
      });
    },
    version(id) {
      const document = parseDocument(readVersion(place, id), place.path);
      const changes = document.root ? shownChanges(loadFile().unresolved, loadText(document).unresolved, deps.sections()) : [];
      return { raw: redactText(document, deps.sections()), changes };
    },
    effects(keys) {
      const config = deps.current();
      return effectsOf(keys, deps.modeOf(config), deps.channels());
    },
    restoring(id) {
      const text = readVersion(place, id);
      return { text, reload: reloadTo(loadText(parseDocument(text, place.path))) };
    },
  };
}

/** One key that differs between two configurations, as it may be shown. */
export interface ShownChange {
  /** Dotted. */
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Every write sets these. */
const STAMPS = ["meta.lastTouchedAt", "meta.lastTouchedVersion"];
/** A stamp that comes alone brings its object with it. */
const isStamp = (path: string, value: unknown): boolean =>
  STAMPS.includes(path) ||
  (path === "meta" && typeof value === "object" && value !== null && Object.keys(value).every((key) => STAMPS.includes(`meta.${key}`)));

/** What differs, with secrets hidden: that one is another now is shown, what it is never. */
function shownChanges(before: unknown, after: unknown, sections?: ConfigSections): ShownChange[] {
  return changesBetween(before, after).flatMap(({ path, before: old, after: next }): ShownChange[] => {
    const dotted = path.join(".");
    if (isStamp(dotted, next ?? old)) return [];
    const was = old === undefined ? {} : { before: redactAt(valueAt(before, path), path, sections) };
    const is = next === undefined ? {} : { after: redactAt(next, path, sections) };
    return [{ path: dotted, kind: old === undefined ? "added" : next === undefined ? "removed" : "changed", ...was, ...is }];
  });
}

/** What changing one key makes happen, for people. */
export interface ChangeEffect {
  readonly kind: ReloadWords["kind"];
  readonly does: string;
}

/** What a change makes happen, for people. */
export interface ReloadWords {
  readonly kind: "none" | "hot" | "restart";
  readonly paths: readonly { readonly path: string; readonly does: string }[];
}

/** Keys that a rule about reloading names at most. */
const RULE_LEVELS = 5;

/** More paths than anybody reads. */
const MOST_PATHS = 200;

const RESTART = "The gateway restarts. Queued messages are answered afterwards.";
const ON_USE = "Applies at the next use; nothing restarts.";

const EFFECTS: Readonly<Record<string, string>> = {
  auth: "Connections made with the old secret are closed.",
  hooks: "Webhooks change at once.",
  gmail: "The Gmail watcher restarts.",
  heartbeat: "Heartbeats are rescheduled.",
  cron: "Scheduled jobs are rescheduled.",
  browser: "The browser restarts.",
};

function words(action: ReloadAction): string {
  if (action.kind === "process") return RESTART;
  if (action.kind === "none") return ON_USE;
  const id = action.kind === "restart" ? action.id : undefined;
  if (action.module === "channels" && id !== undefined) return `The channel ${id} reconnects.`;
  if (action.module === "plugins" && id !== undefined) return `The plugin ${id} reloads.`;
  return EFFECTS[action.module] ?? `${action.module} restarts.`;
}

/** Why a mode leaves a change alone. */
const IGNORED: Readonly<Partial<Record<ReloadMode, string>>> = {
  off: "Takes effect at the gateway's next restart: gateway.reload.mode is off.",
  hot: "Takes effect at the gateway's next restart: gateway.reload.mode is hot.",
};

/** What changes of `paths` make happen under a reload mode. `channels`: ids of loaded channels. */
function describeReload(paths: readonly string[], mode: ReloadMode, channels: readonly string[]): ReloadWords {
  const { actions, held = [] } = planReload(paths, mode, channels);
  const restarts = actions.some(({ kind }) => kind === "process");
  const doing = (path: string): string => {
    if (held.includes(path)) return IGNORED[mode] ?? RESTART;
    if (mode === "restart") return RESTART;
    return [...new Set(actionsFor(path, channels).map(words))].join(" ");
  };
  return {
    kind: restarts ? "restart" : actions.length > 0 ? "hot" : "none",
    paths: paths
      .filter((path) => path !== "meta" && !path.startsWith("meta."))
      .slice(0, MOST_PATHS)
      .map((path) => ({ path, does: doing(path) })),
  };
}

/** Of each key, in the order that parents come first; without those that do what is done above them. */
function effectsOf(keys: readonly string[], mode: ReloadMode, channels: readonly string[]): ReadonlyMap<string, ChangeEffect> {
  const known = new Map<string, ChangeEffect>();
  const own = new Map<string, ChangeEffect>();
  // Rules name keys near the top only: what is deeper does what is above it.
  for (const key of keys.filter((one) => one.split(".").length <= RULE_LEVELS)) {
    const { kind, paths } = describeReload([key], mode, channels);
    const effect = { kind, does: paths[0]?.does ?? ON_USE };
    const above = known.get(key.slice(0, Math.max(key.lastIndexOf("."), 0)));
    known.set(key, effect);
    if (above?.kind !== kind || above.does !== effect.does) own.set(key, effect);
  }
  return own;
}

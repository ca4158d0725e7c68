import { AppError } from "../base/errors.ts";
import { ensureFolder, writeAtomic } from "../base/files.ts";
import type { Ids } from "../base/ids.ts";
import { loadConfig, type Loaded, type LoadOptions } from "./load.ts";
import { lastGoodFile } from "./missing-file.ts";
import { formatLocated, type LocatedIssue } from "./snapshot.ts";
import { diskFiles, overlayFiles } from "./source-files.ts";
import { isObject } from "./value.ts";

/** The texts of a configuration that worked. Texts, not values: a secret that came from a variable is not in them. */
interface LastGood {
  readonly version: 1;
  readonly savedAt: number;
  readonly path: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Keeps a configuration that the gateway runs with. Does nothing when it is the one that is kept. */
export function keepLastGood(loaded: Loaded, deps: { readonly now: number; readonly ids: Ids }): void {
  if (!loaded.snapshot.valid || loaded.snapshot.source !== "file" || !loaded.snapshot.exists) return;
  const { path } = loaded.snapshot;
  const texts = Object.fromEntries([...loaded.documents].map(([file, document]) => [file, document.text]));
  const kept = readLastGood(loaded.paths.state);
  if (kept && kept.path === path && JSON.stringify(kept.files) === JSON.stringify(texts)) return;
  const content: LastGood = { version: 1, savedAt: deps.now, path, files: texts };
  const target = lastGoodFile(loaded.paths.state);
  ensureFolder(loaded.paths.state);
  writeAtomic(target, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, temporary: `${target}.${process.pid}.${deps.ids.uuid()}.tmp` });
}

function readLastGood(state: string): LastGood | undefined {
  try {
    const value: Partial<LastGood> | null = JSON.parse(Buffer.from(diskFiles.read(lastGoodFile(state))).toString("utf8"));
    const { version, savedAt = 0, path, files } = value ?? {};
    if (version !== 1 || typeof path !== "string" || !isObject(files)) return undefined;
    return Object.values(files).every((text) => typeof text === "string") ? { version, savedAt, path, files } : undefined;
  } catch {
    return undefined; // None was kept, or it is damaged: then there is no last good configuration.
  }
}

/** True when the gateway ran with a configuration in this file. */
export function isKept(state: string, path: string): boolean {
  return readLastGood(state)?.path === path;
}

/**
 * What to start with instead of a broken file: the last configuration that worked. The snapshot's `source` is then `last-good` and its `reason`
 * lists what is wrong with the file. Throws `CONFIG_INVALID` with all issues when there is none.
 */
export function fallBack(broken: Loaded, options: LoadOptions): Loaded {
  return loadLastGood(options, broken) ?? refuse(broken);
}

/** The configuration that was kept for the same file, standing in for `broken`. Undefined when there is none that is valid. */
export function loadLastGood(options: LoadOptions, broken: Loaded): Loaded | undefined {
  const kept = readLastGood(broken.paths.state);
  if (!kept || kept.path !== broken.snapshot.path) return undefined;
  const files = overlayFiles(options.files ?? diskFiles, new Map(Object.entries(kept.files)));
  const good = loadConfig({ ...options, path: kept.path, files });
  if (!good.snapshot.valid) return undefined;
  const list = broken.snapshot.issues.map(formatLocated).join("\n");
  const reason = `${kept.path} cannot be used; running with the configuration of ${new Date(kept.savedAt).toISOString()}:\n${list}`;
  const { raw, exists, hash } = broken.snapshot;
  const warnings = [...broken.snapshot.issues.map((issue) => ({ ...issue, severity: "warning" as const })), ...good.snapshot.warnings];
  return { ...good, watched: broken.watched, snapshot: { ...good.snapshot, raw, exists, hash, warnings, source: "last-good", reason } };
}

function refuse(loaded: Loaded): never {
  throw invalidConfig(`Invalid config at ${loaded.snapshot.path}:`, loaded.snapshot.issues);
}

/** A `CONFIG_INVALID` that lists everything. */
export function invalidConfig(headline: string, issues: readonly LocatedIssue[]): AppError {
  return new AppError("CONFIG_INVALID", [headline, ...issues.map((issue) => `- ${formatLocated(issue)}`)].join("\n"), { details: { issues } });
}

import { copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { ensureFolder, isInside } from "../../base/files.ts";
import type { InstallDeps } from "./deps.ts";
import { LIMITS } from "./limits.ts";
import { hashesOf, packFromRegistry, type Packed } from "./npm.ts";
import type { Source } from "./source.ts";
import { copyTree } from "./tree.ts";
import { unpack } from "./unpack/index.ts";

/** A folder beside the installed plugins, on the same disk, that discovery passes over. */
export interface Stage extends Disposable {
  readonly folder: string;
}

export const extensionsFolder = (stateDir: string): string => join(stateDir, "extensions");

export function openStage({ stateDir, pid, ids }: Pick<InstallDeps, "stateDir" | "pid" | "ids">): Stage {
  const folder = join(extensionsFolder(stateDir), `.staging-${pid}-${ids.hex(6)}`);
  ensureFolder(folder);
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What was brought into the stage. */
export interface Fetched {
  /** The plugin's own folder. */
  readonly root: string;
  readonly packed?: Packed;
  readonly integrity?: string;
  readonly shasum?: string;
}

/** Brings a plugin into the stage: copied, unpacked or downloaded. Nothing of it runs. */
export async function fetchInto({ folder }: Stage, source: Source, deps: InstallDeps): Promise<Fetched> {
  const plugin = join(folder, "plugin");
  const unpacking = { limits: deps.limits ?? LIMITS, signal: deps.signal };
  if (source.kind === "folder") {
    if (isInside(realpathSync(source.path), realpathSync(folder))) {
      const message = `${source.path} contains the folder that plugins are installed into (${extensionsFolder(deps.stateDir)}); use the folder of the plugin itself`;
      throw new AppError("INVALID_INPUT", message);
    }
    deps.onStep?.(`copying ${source.path}`);
    copyTree(source.path, plugin, deps.limits);
    return { root: plugin };
  }
  if (source.kind === "file") return { root: wrapFile(source.path, plugin) };
  if (source.kind === "archive") {
    deps.onStep?.(`unpacking ${source.path}`);
    // Hashed and unpacked from a copy: a change of the original does not change what was checked.
    const copy = join(folder, basename(source.path));
    copyFileSync(source.path, copy);
    mkdirSync(plugin);
    await unpack(copy, plugin, { ...unpacking, shown: source.path });
    return { root: innerRoot(plugin), ...hashesOf(copy) };
  }
  deps.onStep?.(`downloading ${source.spec}`);
  const packed = await packFromRegistry(source.spec, folder, deps);
  if (packed.name !== source.name)
    throw new AppError("INVALID_INPUT", `${source.spec} was requested, the registry returned ${packed.name}; nothing was installed`);
  deps.onStep?.(`unpacking ${packed.name}@${packed.version}`);
  mkdirSync(plugin);
  await unpack(packed.file, plugin, { ...unpacking, shown: source.spec });
  return { root: innerRoot(plugin), packed, integrity: packed.integrity, shasum: packed.shasum };
}

const MARKS = ["package.json", "HOOK.md", "openclaw.plugin.json", "index.ts", "index.js", "index.mjs", "index.cjs"];

/** Archives have their files at the top, or in one folder (`package/`). */
function innerRoot(folder: string): string {
  if (MARKS.some((name) => existsSync(join(folder, name)))) return folder;
  const [name, ...others] = readdirSync(folder);
  const only = name !== undefined && others.length === 0 ? join(folder, name) : undefined;
  return only !== undefined && statSync(only).isDirectory() ? only : folder;
}

/** A single file becomes a folder with a manifest: the one beside it, or one that takes no settings. */
function wrapFile(file: string, folder: string): string {
  const id = basename(file, extname(file));
  mkdirSync(folder);
  copyFileSync(file, join(folder, `index${extname(file)}`));
  const beside = join(dirname(file), "openclaw.plugin.json");
  const manifest = join(folder, "openclaw.plugin.json");
  if (id === "index" && existsSync(beside)) copyFileSync(beside, manifest);
  else writeFileSync(manifest, `${JSON.stringify({ id, configSchema: { type: "object", additionalProperties: false, properties: {} } }, null, 2)}\n`);
  return folder;
}

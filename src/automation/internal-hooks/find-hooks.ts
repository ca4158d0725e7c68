/** Finds hooks: folders with a `HOOK.md`, and packages that name such folders. None of their code is loaded. */
import { open, readdir, realpath, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { findPrograms } from "../../agent/index.ts";
import { messageOf, systemCode } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { isRecord } from "../../base/records.ts";
import { expandHome, type Env, type OpenClawConfig } from "../../config/index.ts";
import { BUNDLED_HOOKS } from "./bundled/catalog.ts";
import { isKnownEvent, parseHook, stateOf, unknownEvents, type Hook, type HookFiles, type HookSource, type KnownHook } from "./hook.ts";

/** Where hooks are looked for. */
export interface HookPlaces {
  /** The state folder; hooks of the user are in `hooks` below it. */
  readonly stateDir: string;
  /** Of the default agent; hooks are in `hooks` below it. */
  readonly workspaceDir: string;
  /** What `~` stands for. */
  readonly home: string;
  /** Folder of the configuration's file: relative folders count from there. */
  readonly configDir: string;
}

export interface FindHooksDeps extends HookPlaces {
  readonly config: OpenClawConfig;
  readonly env: Env;
  readonly platform: NodeJS.Platform;
}

export interface HookProblem {
  readonly path: string;
  readonly message: string;
}

export interface FoundHooks {
  /** By name. */
  readonly hooks: readonly KnownHook[];
  /** Folders that hold no hook although they look like one, and hooks that another of the same name replaces. */
  readonly problems: readonly HookProblem[];
}

export const HOOK_FILE = "HOOK.md";
const HANDLERS = ["handler.ts", "handler.js", "index.ts", "index.js"];
const MOST_FOLDERS = 300;
const MOST_IN_PACKAGE = 64;
/** Front matter ends before this. */
const HEAD_BYTES = 65_536;
const PACKAGE_BYTES = 262_144;

export const managedFolder = (stateDir: string): string => join(stateDir, "hooks");

/** Roots in their order: what is found later replaces what was found before under the same name. */
function rootsOf({ config, env, stateDir, workspaceDir, home, configDir }: FindHooksDeps): readonly { readonly folder: string; readonly source: HookSource }[] {
  const extra = (config.hooks?.internal?.load?.extraDirs ?? []).map((folder) => folder.trim()).filter((folder) => folder !== "");
  const bundled = env["OPENCLAW_BUNDLED_HOOKS_DIR"]?.trim();
  return [
    ...extra.map((folder) => ({ folder: resolve(configDir, expandHome(folder, home)), source: "openclaw-extra" as const })),
    ...(bundled ? [{ folder: resolve(bundled), source: "openclaw-bundled" as const }] : []),
    { folder: managedFolder(stateDir), source: "openclaw-managed" },
    { folder: join(workspaceDir, "hooks"), source: "openclaw-workspace" },
  ];
}

/** Every hook there is, and whether it can be used. A folder that is not there has none. */
export async function findHooks(deps: FindHooksDeps): Promise<FoundHooks> {
  const problems: HookProblem[] = [];
  const byName = new Map<string, Hook>();
  const add = (hook: Hook): void => void byName.set(hook.name, hook);
  const roots = rootsOf(deps);
  for (const { folder, source } of roots.filter((root) => root.source === "openclaw-extra")) {
    // A folder that is a hook itself, or a package of them, may be named as well: installs with --link do.
    const own = await hooksOf(folder, source, problems);
    (own.length > 0 ? own : await hooksIn(folder, source, problems)).forEach(add);
  }
  BUNDLED_HOOKS.forEach(add);
  for (const { folder, source } of roots.filter((root) => root.source !== "openclaw-extra")) (await hooksIn(folder, source, problems)).forEach(add);
  const hooks = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  const programs = await findPrograms(
    hooks.flatMap(({ requires }) => [...requires.bins, ...requires.anyBins]),
    deps.env,
    deps.platform,
  );
  return { hooks: hooks.map((hook) => ({ ...hook, ...stateOf(hook, { ...deps, programs }) })), problems };
}

async function hooksIn(root: string, source: HookSource, problems: HookProblem[]): Promise<readonly Hook[]> {
  const names = await readdir(root).catch((error: unknown) => {
    if (systemCode(error) !== "ENOENT") problems.push({ path: root, message: `the folder cannot be read: ${messageOf(error)}` });
    return [];
  });
  const shown = names.filter((name) => !name.startsWith(".") && name !== "node_modules").sort();
  if (shown.length > MOST_FOLDERS) problems.push({ path: root, message: `it has ${shown.length} entries; only the first ${MOST_FOLDERS} are checked` });
  const hooks: Hook[] = [];
  for (const name of shown.slice(0, MOST_FOLDERS)) hooks.push(...(await hooksOf(join(root, name), source, problems)));
  return hooks;
}

/** The hooks of one folder: those that its package names, or the one that it is. */
export async function hooksOf(folder: string, source: HookSource, problems: HookProblem[]): Promise<readonly Hook[]> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory()) return [];
  const named = await packageHooks(real, problems);
  if (named.length === 0) {
    const hook = await readHook(real, source, basename(folder), problems);
    return hook ? [hook] : [];
  }
  const hooks: Hook[] = [];
  for (const path of named) {
    const inner = await realpath(resolve(real, path)).catch(() => undefined);
    if (inner === undefined) problems.push({ path: join(real, path), message: "package.json lists this folder in openclaw.hooks, but it does not exist" });
    else if (!isInside(real, inner))
      problems.push({ path: join(real, path), message: "package.json lists this folder in openclaw.hooks, but it is outside the package" });
    else {
      const hook = await readHook(inner, source, basename(inner), problems);
      if (hook) hooks.push(hook);
      else problems.push({ path: inner, message: `package.json lists this folder in openclaw.hooks, but it has no ${HOOK_FILE}` });
    }
  }
  return hooks;
}

/** `openclaw.hooks` of a package. */
async function packageHooks(folder: string, problems: HookProblem[]): Promise<readonly string[]> {
  const path = join(folder, "package.json");
  const text = await head(path, PACKAGE_BYTES);
  if (text === undefined) return [];
  try {
    const pkg: unknown = JSON.parse(text);
    const named = isRecord(pkg) && isRecord(pkg["openclaw"]) ? pkg["openclaw"]["hooks"] : undefined;
    if (!Array.isArray(named)) return [];
    return named.filter((one): one is string => typeof one === "string" && one.trim() !== "").slice(0, MOST_IN_PACKAGE);
  } catch (error) {
    problems.push({ path, message: `not valid JSON: ${messageOf(error)}` });
    return [];
  }
}

/** The beginning of a file; undefined when it is not there. */
async function head(path: string, bytes: number): Promise<string | undefined> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** The hook in a folder; undefined when there is none, with the reason among the problems where it looks like one. */
async function readHook(folder: string, source: HookSource, folderName: string, problems: HookProblem[]): Promise<Hook | undefined> {
  const filePath = join(folder, HOOK_FILE);
  try {
    const text = await head(filePath, HEAD_BYTES);
    if (text === undefined) return undefined;
    const files: HookFiles = { baseDir: folder, filePath, ...(await handlerOf(folder, problems)) };
    const hook = parseHook(text, { files, source, folderName });
    const unknown = typeof hook === "string" ? [] : hook.events.filter((event) => !isKnownEvent(event));
    if (unknown.length > 0) problems.push({ path: filePath, message: unknownEvents(unknown) });
    if (typeof hook !== "string") return hook;
    problems.push({ path: filePath, message: hook });
  } catch (error) {
    problems.push({ path: filePath, message: `cannot be read: ${messageOf(error)}` });
  }
  return undefined;
}

/** Its handler: a file that other users cannot change, inside of its folder. */
async function handlerOf(folder: string, problems: HookProblem[]): Promise<Pick<HookFiles, "handlerPath">> {
  for (const name of HANDLERS) {
    const path = join(folder, name);
    const handlerPath = await realpath(path).catch(() => undefined);
    if (handlerPath === undefined) continue;
    if (!isInside(folder, handlerPath)) {
      problems.push({ path, message: `the handler is outside the hook's folder: ${handlerPath}` });
      continue;
    }
    const facts = await stat(handlerPath);
    if (!facts.isFile()) continue;
    if (process.platform !== "win32" && (facts.mode & 0o002) !== 0) {
      problems.push({ path, message: "every user of this machine can change the handler; fix it with chmod o-w" });
      continue;
    }
    return { handlerPath };
  }
  return {};
}

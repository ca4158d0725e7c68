/** Loads the hooks that can be used and registers them. One that fails is logged and harms nothing. */
import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import type { InternalHookHandler, InternalHooks } from "../../hooks/index.ts";
import { bundledHandler, type BundledDeps } from "./bundled/index.ts";
import { findHooks, type FindHooksDeps } from "./find-hooks.ts";
import { isKnownEvent, unknownEvents, whyNot, type KnownHook } from "./hook.ts";

/** A file of a hook's author. */
export interface HookModule {
  readonly name: string;
  readonly file: string;
  /** Folder that belongs to the hook. */
  readonly rootDir: string;
}

export interface LoadHooksDeps extends Omit<FindHooksDeps, "config">, BundledDeps {
  readonly registry: Pick<InternalHooks, "register">;
  readonly log: Logger;
  /** Imports TypeScript or JavaScript; rejects with what is wrong with it, and where. */
  readonly importModule: (module: HookModule) => Promise<Readonly<Record<string, unknown>>>;
}

/** What became of a hook that was to be loaded. */
export interface LoadedHook {
  readonly name: string;
  /** Absent for hooks that are part of this program. */
  readonly file?: string;
  /** Why it is not called. */
  readonly error?: string;
}

type Handler = InternalHookHandler;
const isHandler = (value: unknown): value is Handler => typeof value === "function";

/** The exported function; in CommonJS it is below `default`. */
function exported(namespace: Readonly<Record<string, unknown>>, name: string): Handler {
  const inner = namespace["default"];
  const found = [namespace[name], isRecord(inner) ? inner[name] : undefined].find(isHandler);
  if (found) return found;
  const names = Object.keys(namespace).filter((key) => key !== "module.exports");
  throw new AppError(
    "INVALID_INPUT",
    `expected a function as its export ${JSON.stringify(name)}, found ${names.length === 0 ? "no exports" : names.join(", ")}`,
  );
}

async function handlerFor(hook: KnownHook, deps: LoadHooksDeps): Promise<Handler> {
  const { name, files, exportName } = hook;
  if (!files) return bundledHandler(name, deps);
  const { baseDir: rootDir, handlerPath: file } = files;
  if (file === undefined) throw new AppError("NOT_FOUND", "it has no handler");
  return exported(await deps.importModule({ name, file, rootDir }), exportName);
}

/** Resolves to what became of each; those without an error are registered until `stack` is disposed of. */
export async function loadHooks(deps: LoadHooksDeps, stack: DisposableStack): Promise<readonly LoadedHook[]> {
  const { registry, log } = deps;
  const { hooks, problems } = await findHooks({ ...deps, config: deps.config.current });
  for (const { path, message } of problems) log.warn(`hooks: ${path}: ${message}`);
  for (const hook of hooks)
    if (hook.problem !== undefined && !hook.disabled) log.warn(`the hook ${hook.name} is not loaded: ${whyNot(hook)}`, { file: hook.files?.filePath });
  const usable = hooks.filter(({ eligible }) => eligible);
  // They load side by side: one that takes its time does not add to that of the others.
  const handlers = await Promise.allSettled(usable.map((hook) => handlerFor(hook, deps)));
  const outcomes = usable.map(({ name, events, files }, index): LoadedHook => {
    const loaded = handlers[index];
    const hook = { name, ...(files?.handlerPath === undefined ? {} : { file: files.handlerPath }) };
    if (loaded?.status !== "fulfilled") {
      const error = messageOf(loaded?.reason);
      log.error(`the hook ${name} could not be loaded: ${error}`, { file: files?.handlerPath });
      return { ...hook, error };
    }
    stack.use(registry.register(events, loaded.value, { name }));
    log.info(`Registered hook: ${name} -> ${events.join(", ")}`);
    return hook;
  });
  return [...outcomes, ...(await loadOldHandlers(deps, stack))];
}

/** `hooks.internal.handlers`: files of the workspace, one for each event. */
async function loadOldHandlers(deps: LoadHooksDeps, stack: DisposableStack): Promise<readonly LoadedHook[]> {
  const { registry, log, workspaceDir } = deps;
  const outcomes: LoadedHook[] = [];
  for (const [index, { event, module, export: exportName = "default" }] of (deps.config.current.hooks?.internal?.handlers ?? []).entries()) {
    const name = `hooks.internal.handlers[${index}]`;
    try {
      const file = await fileInWorkspace(module, workspaceDir);
      const handler = exported(await deps.importModule({ name, file, rootDir: dirname(file) }), exportName);
      stack.use(registry.register(event, handler, { name: `${name} (${module})` }));
      log.info(`Registered hook: ${module} -> ${event}`);
      outcomes.push({ name, file: module, ...(isKnownEvent(event) ? {} : { error: unknownEvents([event]) }) });
    } catch (error) {
      outcomes.push({ name, file: module, error: messageOf(error) });
      log.error(`${name} (${module}) could not be loaded: ${messageOf(error)}`);
    }
  }
  return outcomes;
}

async function fileInWorkspace(module: string, workspaceDir: string): Promise<string> {
  if (isAbsolute(module)) throw new AppError("INVALID_INPUT", `expected a path relative to the workspace ${workspaceDir}, found an absolute one`);
  const path = resolve(workspaceDir, module);
  const [root, file] = await Promise.all([realpath(workspaceDir), realpath(path)]).catch(() => {
    throw new AppError("NOT_FOUND", `${path} does not exist`);
  });
  if (!isInside(root, file)) throw new AppError("PERMISSION_DENIED", `${path} is outside the workspace ${workspaceDir}`);
  if (!(await stat(file)).isFile()) throw new AppError("INVALID_INPUT", `${path} is not a file`);
  return file;
}

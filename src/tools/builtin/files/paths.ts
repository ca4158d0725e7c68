import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import { createRootedFiles, realTarget, type RootedFiles } from "../../../base/rooted-files.ts";
import { flatText } from "../../flat-text.ts";
import type { FileAccess } from "../../file-access/file-access.ts";
import type { Tool, ToolCall, ToolContext } from "../../tool.ts";
import { openSandboxFiles, sandboxPath, type SandboxFiles } from "../../sandbox-files.ts";

export interface FileToolsDeps {
  readonly ids: Pick<Ids, "hex">;
  /** `tools.fs.workspaceOnly` for this agent. */
  readonly workspaceOnly: (agentId: string) => boolean;
  readonly home?: string;
  /** The files of a session in a sandbox; undefined for one that is in none. */
  readonly place?: ((context: ToolContext) => SandboxFiles | undefined) | undefined;
  /** Decides about every path. Without it everything may be reached: for tests of what tools do with files. */
  readonly access?: Pick<FileAccess, "check"> | undefined;
}

const UNICODE_SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/** A path as models write it: `@` in front, `~`, `file:`, odd spaces, relative to the workspace. */
export function resolvePath(written: string, { workspaceDir }: ToolContext, home = homedir()): string {
  const plain = written.trim().replace(/^@/, "").replaceAll(UNICODE_SPACES, " ");
  if (/^file:\/\//i.test(plain)) return filePath(plain);
  if (plain === "~") return home;
  if (plain.startsWith("~/")) return resolve(home, plain.slice(2));
  return isAbsolute(plain) ? resolve(plain) : resolve(workspaceDir, plain);
}

/** The path that a call names, for plugins that decide about it. One that cannot be resolved is reported by the call itself. */
export const namedPath =
  (deps: FileToolsDeps): NonNullable<Tool["paths"]> =>
  (params, context) =>
    derivedPaths([textParam(params, "path") ?? ""], context, deps);

/** The same for tools that work in the workspace when a call names no path. */
export const searchedPath =
  (deps: FileToolsDeps): NonNullable<Tool["paths"]> =>
  (params, context) =>
    derivedPaths([textParam(params, "path")?.trim() || "."], context, deps);

/** What texts name as absolute paths, without those that cannot be resolved. Where links lead elsewhere, the file behind them follows its path. */
export async function derivedPaths(written: readonly string[], context: ToolContext, { home, place }: FileToolsDeps): Promise<readonly string[]> {
  const sandbox = place?.(context);
  const named = written.flatMap((text) => (text.trim() === "" ? [] : (unlessRefused(() => resolvePath(text, context, home)) ?? [])));
  const found = named.map(async (path) => {
    const onHost = sandbox ? unlessRefused(() => sandboxPath(sandbox, context.workspaceDir, path).path) : path;
    return onHost === undefined ? [path] : [path, await realpath(onHost).catch(() => realTarget(onHost))];
  });
  return [...new Set((await Promise.all(found)).flat())];
}

function unlessRefused<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function filePath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `${url} is not a file URL of this machine; use its path`, { cause: error });
  }
}

export interface ToolFiles extends RootedFiles {
  /** Asks about everything that is to be written or deleted, before the first of it is. */
  permit(paths: readonly string[]): Promise<void>;
}

/** The files of one call, by the paths that agents write. */
export interface CallFiles extends ToolFiles {
  resolve(written: string): string;
}

/** The files this call may reach, by the paths that `resolvePath` gives. */
export function filesFor(tool: string, { id, context, signal }: Pick<ToolCall, "id" | "context" | "signal">, deps: FileToolsDeps): ToolFiles {
  const { ids, workspaceOnly, place, access } = deps;
  const unique = (): string => ids.hex(6);
  const call = { tool, callId: id, signal };
  const placed = place?.(context);
  if (placed) {
    const check = access?.check(context, { ...call, roots: placed.mounts.map(({ host }) => host) });
    return { ...openSandboxFiles(placed, context.workspaceDir, { unique, check }), permit: async () => {} };
  }
  const check = access?.check(context, call);
  const files = createRootedFiles({ root: workspaceOnly(context.agentId) ? context.workspaceDir : undefined, check, unique });
  return {
    ...files,
    async permit(paths) {
      if (check) for (const path of paths) await check(await realTarget(path), "write");
    },
  };
}

type Params = Readonly<Record<string, unknown>>;

/** Names other agents use for the same thing. */
const OTHER_NAMES: Readonly<Record<string, string>> = { path: "file_path", oldText: "old_string", newText: "new_string" };

/** A text under its name or its other name; undefined when it is missing. */
export function textParam(params: Params, name: string): string | undefined {
  const value = params[name] ?? params[OTHER_NAMES[name] ?? name];
  return value === undefined || value === null ? undefined : flatText(value);
}

/** The text that names every missing parameter. */
export function missingParams(names: readonly string[]): string {
  return `Missing required parameter${names.length === 1 ? "" : "s"}: ${names.join(", ")}. Supply correct parameters before retrying.`;
}

const text = (description: string) => ({ type: "string", description });

/** The properties that every file tool has, with their other names. */
export const PATH_PROPERTIES = { path: text("Path of the file, from the workspace or absolute"), file_path: text("Alias of path") };
const REPLACEMENT = {
  oldText: text("Exact text to replace; must occur once unless replaceAll is set"),
  old_string: text("Alias of oldText"),
  newText: text("Replacement text"),
  new_string: text("Alias of newText"),
  replaceAll: { type: "boolean", description: "Replace every occurrence" },
  replace_all: { type: "boolean", description: "Alias of replaceAll" },
};
export const EDIT_PROPERTIES = {
  ...PATH_PROPERTIES,
  ...REPLACEMENT,
  edits: {
    type: "array",
    description: "Several replacements in the same file, made in this order: all of them or none. In place of oldText and newText",
    items: { type: "object", properties: REPLACEMENT },
  },
};

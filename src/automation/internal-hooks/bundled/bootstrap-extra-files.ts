import { glob } from "node:fs/promises";
import { basename, isAbsolute, join, sep } from "node:path";
import { BOOTSTRAP_NAMES, MEMORY_NAMES, textsOf, type BootstrapFile } from "../../../agent/index.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import { createRootedFiles } from "../../../base/rooted-files.ts";
import type { InternalHookHandler } from "../../../hooks/index.ts";
import type { BundledDeps } from "./index.ts";

const NAMES: ReadonlySet<string> = new Set([...BOOTSTRAP_NAMES, ...MEMORY_NAMES]);
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);
const MOST_FILES = 50;
/** Folders and files that one pattern may look at. */
const MOST_LOOKED_AT = 20_000;
const MOST_BYTES = 1_048_576;

/** Files below the workspace that match, without links that lead out of it. */
async function matches(workspaceDir: string, pattern: string, warn: (text: string) => void): Promise<readonly string[]> {
  if (isAbsolute(pattern) || pattern.split(/[\\/]/).includes("..")) {
    warn(`the pattern ${JSON.stringify(pattern)} is ignored: expected a path below the workspace, without ".."`);
    return [];
  }
  let looked = 0;
  const exclude = (name: string): boolean => SKIPPED.has(basename(name)) || (looked += 1) > MOST_LOOKED_AT;
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: workspaceDir, exclude })) {
    if (NAMES.has(basename(path))) found.push(path);
    if (found.length >= MOST_FILES) break;
  }
  if (looked > MOST_LOOKED_AT) warn(`the pattern ${JSON.stringify(pattern)} matches too much: only the first ${MOST_LOOKED_AT} entries were checked`);
  return found.sort();
}

async function readFile(workspaceDir: string, path: string): Promise<BootstrapFile> {
  const whole = join(workspaceDir, path);
  // Nothing is written, so no names for temporary files are needed.
  await using file = await createRootedFiles({ root: workspaceDir, unique: () => "" }).open(whole);
  const { size } = await file.stat();
  if (size > MOST_BYTES) throw new AppError("INVALID_INPUT", `it has ${size} bytes; at most ${MOST_BYTES} are shown`);
  return { name: basename(path), path: whole, content: await file.readFile("utf8"), missing: false };
}

/** Shows the agent more files of its workspace: those that match `paths` (or `patterns`, `files`) of the hook's entry. */
export function bootstrapExtraFiles({ config, log }: Pick<BundledDeps, "config" | "log">): InternalHookHandler {
  /** A pattern that is ignored is reported once. */
  const reported = new Set<string>();
  const warn = (text: string): void => {
    if (reported.has(text) || reported.size >= 100) return;
    reported.add(text);
    log.warn(`bootstrap-extra-files: ${text}`);
  };
  return async ({ context }) => {
    const { workspaceDir, bootstrapFiles } = context;
    const entry: Readonly<Record<string, unknown>> = config.current.hooks?.internal?.entries?.["bootstrap-extra-files"] ?? {};
    const patterns = [entry["paths"], entry["patterns"], entry["files"]].map(textsOf).find((list) => list.length > 0) ?? [];
    if (typeof workspaceDir !== "string" || !Array.isArray(bootstrapFiles) || patterns.length === 0) return;
    const shown = new Set((bootstrapFiles as readonly Partial<BootstrapFile>[]).map(({ path }) => path));
    const paths = new Set((await Promise.all(patterns.map((pattern) => matches(workspaceDir, pattern, warn)))).flat());
    for (const path of [...paths].filter((one) => !shown.has(join(workspaceDir, one))).slice(0, MOST_FILES)) {
      try {
        bootstrapFiles.push(await readFile(workspaceDir, path));
      } catch (error) {
        warn(`${path.replaceAll(sep, "/")} is not shown: ${messageOf(error)}`);
      }
    }
  };
}

/** Brings a skill into a stage beside its place. Nothing of it runs. */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { SKILL_FILE, skillFolders } from "../../agent/index.ts";
import { AppError } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { run } from "../../base/spawn.ts";
import { clip, formatBytes } from "../../base/text.ts";
import type { Env } from "../../config/index.ts";
import { LIMITS, type InstallLimits } from "../install/limits.ts";
import { copyTree } from "../install/tree.ts";
import { unpack } from "../install/unpack/index.ts";
import { fetchToFile, requireHash, type FetchDeps } from "./download.ts";
import type { SkillSource } from "./source.ts";

const MB = 1024 * 1024;

/** A skill is texts and a few scripts. */
export const SKILL_LIMITS: InstallLimits = {
  ...LIMITS,
  entries: 2000,
  entriesWithDependencies: 2000,
  archiveBytes: 32 * MB,
  bytes: 64 * MB,
  depth: 16,
};

export interface SkillFetchDeps extends FetchDeps {
  readonly env: Env;
  readonly signal?: AbortSignal | undefined;
  readonly onStep?: ((what: string) => void) | undefined;
  readonly limits?: InstallLimits | undefined;
}

export interface FetchedSkill {
  /** The skill's own folder. */
  readonly root: string;
  /** Of the archive. */
  readonly sha256?: string | undefined;
  readonly commit?: string | undefined;
}

const FETCH_MS = 120_000;

/** `sha256`: what the archive has to be. */
export async function fetchSkill(source: SkillSource, stage: string, sha256: string | undefined, deps: SkillFetchDeps): Promise<FetchedSkill> {
  const content = join(stage, "content");
  const { limits = SKILL_LIMITS } = deps;
  if (sha256 !== undefined && source.kind !== "archive" && source.kind !== "url") {
    throw new AppError(
      "INVALID_INPUT",
      `--sha256 is for archives; ${source.kind === "git" ? "name the commit of a repository instead: #<commit>" : "a folder has none"}`,
    );
  }
  if (source.kind === "folder") {
    if (isInside(realpathSync(source.path), realpathSync(stage)))
      throw new AppError("INVALID_INPUT", `${source.path} contains the folder that it would be installed into`);
    deps.onStep?.(`copying ${source.path}`);
    copyTree(source.path, content, limits, "skill");
    return { root: await skillRoot(content, source) };
  }
  if (source.kind === "git") {
    const commit = await fetchRepository(source, content, deps);
    return { root: await skillRoot(content, source), commit };
  }
  const file = join(stage, "archive");
  const found = source.kind === "url" ? await fetchArchive(source.url, file, deps) : copyArchive(source.path, file, limits);
  const shown = source.kind === "url" ? source.url : source.path;
  requireHash(found, sha256, shown);
  const named = `${file}${endingOf(file)}`;
  renameSync(file, named);
  deps.onStep?.(`unpacking ${basename(shown)}`);
  mkdirSync(content);
  await unpack(named, content, { limits, signal: deps.signal, shown });
  return { root: await skillRoot(content, source), sha256: found };
}

function copyArchive(path: string, file: string, { archiveBytes }: InstallLimits): string {
  const { size } = statSync(path);
  if (size > archiveBytes) throw new AppError("INVALID_INPUT", `${path} has ${formatBytes(size)}, skills have at most ${formatBytes(archiveBytes)}`);
  // Hashed and unpacked from a copy: a change of the original does not change what was checked.
  copyFileSync(path, file);
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function fetchArchive(url: string, file: string, deps: SkillFetchDeps): Promise<string> {
  const { signal, onStep, limits = SKILL_LIMITS } = deps;
  onStep?.(`downloading ${url}`);
  // The user named this host: it may be one of the own network.
  const policy = { ...deps.network?.policy, allowedHostnames: [...(deps.network?.policy?.allowedHostnames ?? []), new URL(url).hostname] };
  return fetchToFile({ url, file, maxBytes: limits.archiveBytes, timeoutMs: FETCH_MS, signal }, { ...deps, network: { ...deps.network, policy } });
}

/** What an archive is, by its first bytes. */
function endingOf(file: string): string {
  const head = readFileSync(file).subarray(0, 4).toString("latin1");
  if (head.startsWith("PK")) return ".zip";
  if (head.startsWith("\x1f\x8b")) return ".tar.gz";
  return head.startsWith("BZh") ? ".tar.bz2" : ".tar";
}

/** Nothing that a repository brings is run: no hooks, no filters, no submodules, and no question is asked. */
const GIT_SETTINGS = ["core.hooksPath=/dev/null", "protocol.ext.allow=never", "submodule.recurse=false", "core.fsmonitor=false", "advice.detachedHead=false"];

async function fetchRepository({ url, ref }: Extract<SkillSource, { readonly kind: "git" }>, folder: string, deps: SkillFetchDeps): Promise<string> {
  deps.onStep?.(`fetching ${url}${ref === undefined ? "" : ` at ${ref}`}`);
  mkdirSync(folder);
  const env = { ...deps.env, GIT_TERMINAL_PROMPT: "0", GIT_LFS_SKIP_SMUDGE: "1", GIT_SSH_COMMAND: undefined, GIT_ALLOW_PROTOCOL: "https:ssh:file" };
  const git = async (...args: readonly string[]): Promise<string> => {
    const settings = GIT_SETTINGS.flatMap((setting) => ["-c", setting]);
    const options = {
      args: [...settings, ...args],
      cwd: folder,
      env,
      timeoutMs: FETCH_MS,
      maxOutputBytes: MB,
      ...(deps.signal ? { signal: deps.signal } : {}),
    };
    const { code, stdout, stderr } = await run("git", options);
    if (code === 0) return stdout.trim();
    throw new AppError("UNAVAILABLE", `git could not get ${url}${ref === undefined ? "" : ` at ${ref}`}: ${clip(stderr.trim(), 400)}`);
  };
  await git("init", "--quiet", "--template=");
  await git("fetch", "--quiet", "--depth", "1", "--no-tags", "--", url, ref ?? "HEAD");
  await git("checkout", "--quiet", "FETCH_HEAD");
  const commit = await git("rev-parse", "HEAD");
  rmSync(join(folder, ".git"), { recursive: true, force: true });
  return commit;
}

/** The folder of the one skill that is meant. */
async function skillRoot(content: string, { folder }: SkillSource): Promise<string> {
  const from = folder === undefined ? content : join(content, folder);
  if (!isInside(content, from) || !statSync(from, { throwIfNoEntry: false })?.isDirectory())
    throw new AppError("INVALID_INPUT", `there is no folder ${JSON.stringify(folder)} in it`);
  const found = await skillFolders(from, SKILL_LIMITS.entries);
  const [only, ...others] = found.length > 0 ? found : await skillFolders(await onlyFolder(from), SKILL_LIMITS.entries);
  if (only === undefined) throw new AppError("INVALID_INPUT", `this is not a skill: there is no ${SKILL_FILE} in it`);
  if (others.length === 0) return only;
  const names = [only, ...others].map((path) => path.slice(content.length + 1));
  throw new AppError(
    "INVALID_INPUT",
    `it holds ${names.length} skills; choose one by its folder, for example #:${names[0]}. There are: ${clip(names.join(", "), 400)}`,
  );
}

/** Archives have their files at the top, or in one folder. */
async function onlyFolder(folder: string): Promise<string> {
  const { readdir } = await import("node:fs/promises");
  const [first, ...others] = await readdir(folder, { withFileTypes: true });
  return first?.isDirectory() && others.length === 0 ? join(folder, first.name) : folder;
}

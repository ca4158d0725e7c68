import { readdir, stat } from "node:fs/promises";
import { basename, join, matchesGlob } from "node:path";
import { messageOf, systemCode } from "../../base/errors.ts";
import { readRegular } from "../../base/open-below.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import type { SkillLimits } from "./limits.ts";
import type { SkillRoot } from "./roots.ts";
import { parseSkill, type ParsedSkill, type Skill, type SkillSource } from "./skill.ts";

const IGNORE_FILES = [".gitignore", ".ignore", ".fdignore"];
const MAX_BYTES = 65_536;

/** Whether the ignore files of a folder leave out one of its folders. The last rule that fits decides. */
type IsIgnored = (name: string) => boolean;

async function loadIgnoreRules(folder: string): Promise<IsIgnored> {
  const texts = await Promise.all(IGNORE_FILES.map((name) => readRegular(join(folder, name)).then(String, () => "")));
  const rules = texts.filter((text) => text.length <= MAX_BYTES).flatMap(parseRules);
  return (name) => rules.findLast((rule) => rule.pattern === name || matchesGlob(name, rule.pattern))?.ignores ?? false;
}

interface Rule {
  readonly pattern: string;
  readonly ignores: boolean;
}

/** Rules that can name an entry of this folder; those about deeper paths do not concern us. */
function parseRules(text: string): readonly Rule[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({
      pattern: line
        .replace(/^!/, "")
        .replace(/^(?:\*\*)?\//, "")
        .replace(/\/(?:\*\*)?$/, ""),
      ignores: !line.startsWith("!"),
    }))
    .filter((rule) => rule.pattern !== "" && !rule.pattern.includes("/"));
}

export interface SkillProblem {
  readonly path: string;
  readonly message: string;
}

export interface LoadedSkills {
  /** By name. */
  readonly skills: readonly Skill[];
  /** Why a skill was left out, or what is wrong with one that was loaded. */
  readonly problems: readonly SkillProblem[];
}

export const SKILL_FILE = "SKILL.md";
/** Front matter ends before this. */
const HEAD_BYTES = 32_768;

/** What was read before, so that a file is read again only when it changed. */
export interface SkillCache {
  readonly files: Map<string, { readonly mark: string; readonly parsed: ParsedSkill }>;
  /** Skills that come with the product do not change while it runs. */
  readonly bundled: Map<string, LoadedSkills>;
}

export const createSkillCache = (): SkillCache => ({ files: new Map(), bundled: new Map() });

/** Reads the skills of all roots. A folder that is not there has none. */
export async function loadSkills(roots: readonly SkillRoot[], limits: SkillLimits, cache = createSkillCache()): Promise<LoadedSkills> {
  const found = await Promise.all(roots.map((root) => (root.source === "openclaw-bundled" ? loadBundled(root, limits, cache) : loadRoot(root, limits, cache))));
  const perSource = new Map<SkillSource, number>();
  const skills = new Map<string, Skill>();
  const problems = found.flatMap((root) => root.problems);
  for (const skill of found.flatMap((root) => root.skills)) {
    const count = (perSource.get(skill.source) ?? 0) + 1;
    perSource.set(skill.source, count);
    if (count <= limits.maxSkillsLoadedPerSource) skills.set(skill.name, skill);
    else problems.push({ path: skill.filePath, message: `skills.limits.maxSkillsLoadedPerSource (${limits.maxSkillsLoadedPerSource}) is reached` });
  }
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))), problems };
}

async function loadBundled(root: SkillRoot, limits: SkillLimits, cache: SkillCache): Promise<LoadedSkills> {
  const key = `${root.folder}\0${limits.maxSkillFileBytes}\0${limits.maxCandidatesPerRoot}`;
  const loaded = cache.bundled.get(key) ?? (await loadRoot(root, limits, cache));
  cache.bundled.set(key, loaded);
  return loaded;
}

async function loadRoot(root: SkillRoot, limits: SkillLimits, cache: SkillCache): Promise<LoadedSkills> {
  const problems: SkillProblem[] = [];
  const folders = await skillFolders(root.folder, limits.maxCandidatesPerRoot, problems);
  const parsed = await Promise.all(folders.map(async (folder) => ({ folder, ...(await cachedSkill(folder, root.source, limits, cache)) })));
  for (const { folder, problems: remarks } of parsed) problems.push(...remarks.map((message) => ({ path: join(folder, SKILL_FILE), message })));
  return { skills: parsed.map(({ skill }) => skill).filter((skill) => skill !== undefined), problems };
}

/** The folders below a root that hold a skill: the root itself, its children, or those of the `skills` folder in it. */
export async function skillFolders(root: string, maxCandidates: number, problems: SkillProblem[] = []): Promise<readonly string[]> {
  if (await isFile(join(root, SKILL_FILE))) return [root];
  const nested = await childSkills(join(root, "skills"), maxCandidates, problems);
  return nested.length > 0 ? nested : childSkills(root, maxCandidates, problems);
}

async function childSkills(folder: string, maxCandidates: number, problems: SkillProblem[]): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (!["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) problems.push({ path: folder, message: `could not be read: ${messageOf(error)}` });
    return [];
  });
  const isIgnored = entries.some((entry) => /^\.(?:git|fd)?ignore$/.test(entry.name)) ? await loadIgnoreRules(folder) : () => false;
  const names = entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith(".") && entry.name !== "node_modules")
    .map((entry) => entry.name)
    .filter((name) => !isIgnored(name))
    .sort();
  if (names.length > maxCandidates) {
    problems.push({ path: folder, message: `has ${names.length} folders; only ${maxCandidates} are scanned (skills.limits.maxCandidatesPerRoot)` });
  }
  const candidates = names.slice(0, maxCandidates).map((name) => join(folder, name));
  const held = await Promise.all(candidates.map((candidate) => isFile(join(candidate, SKILL_FILE))));
  return candidates.filter((_, index) => held[index]);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Skills of workspaces that are not used any more. */
const MOST_CACHED = 2000;

async function cachedSkill(folder: string, source: SkillSource, limits: SkillLimits, { files }: SkillCache): Promise<ParsedSkill> {
  const path = join(folder, SKILL_FILE);
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (!found) return loadSkill(folder, source, limits);
  const mark = `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}:${source}:${limits.maxSkillFileBytes}`;
  const before = files.get(path);
  if (before?.mark === mark) return before.parsed;
  const parsed = await loadSkill(folder, source, limits);
  if (files.size >= MOST_CACHED) files.clear();
  files.set(path, { mark, parsed });
  return parsed;
}

async function loadSkill(folder: string, source: SkillSource, limits: SkillLimits): Promise<ParsedSkill> {
  const filePath = join(folder, SKILL_FILE);
  try {
    // Linked folders are followed, so there is no root; only regular files are opened.
    await using handle = await createRootedFiles({ unique: () => "" }).open(filePath);
    const { size } = await handle.stat();
    if (size > limits.maxSkillFileBytes) {
      return { problems: [`has ${size} bytes; skills.limits.maxSkillFileBytes allows ${limits.maxSkillFileBytes}`] };
    }
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(size, HEAD_BYTES)), 0, Math.min(size, HEAD_BYTES), 0);
    return parseSkill(buffer.toString("utf8", 0, bytesRead), { filePath, baseDir: folder, folderName: basename(folder), source });
  } catch (error) {
    return { problems: [messageOf(error)] };
  }
}

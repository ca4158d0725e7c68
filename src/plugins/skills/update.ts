import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import { fetchSkill } from "./fetch.ts";
import { placeSkill, type SkillInstallDeps } from "./install.ts";
import { changedFiles, hashFiles, readRecord, sameFiles, type SkillRecord } from "./record.ts";
import { parseSkillSource } from "./source.ts";
import { openSkillStage, recoverSkills, swapSkill } from "./swap.ts";

/** An installed skill, and what became of its files since. */
export interface InstalledSkill {
  readonly name: string;
  readonly path: string;
  readonly record: SkillRecord;
  /** Files that are not as they were installed. */
  readonly changed: readonly string[];
}

/** The skills of a folder that this program installed. */
export function installedSkills(skillsDir: string): readonly InstalledSkill[] {
  if (!existsSync(skillsDir)) return [];
  return readdirSync(skillsDir)
    .filter((name) => !name.startsWith("."))
    .sort()
    .flatMap((name): InstalledSkill[] => {
      const path = join(skillsDir, name);
      const record = readRecord(path);
      return record ? [{ name, path, record, changed: changedFiles(path, record) }] : [];
    });
}

export interface SkillUpdateRequest {
  /** All when absent. */
  readonly name?: string | undefined;
  /** What the new archive has to be. */
  readonly sha256?: string | undefined;
  /** Replace files that were changed here. */
  readonly force?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface SkillUpdateOutcome {
  readonly name: string;
  readonly status: "updated" | "would update" | "unchanged" | "declined" | "skipped" | "failed";
  readonly reason?: string | undefined;
}

/** Brings what is behind the sources of installed skills now. One that fails stays as it is. */
export async function updateSkills(request: SkillUpdateRequest, deps: SkillInstallDeps): Promise<readonly SkillUpdateOutcome[]> {
  recoverSkills(deps.skillsDir);
  const installed = installedSkills(deps.skillsDir);
  const wanted = request.name === undefined ? installed : installed.filter(({ name }) => name === request.name);
  if (request.name !== undefined && wanted.length === 0) throw notInstalled(request.name, installed, deps.skillsDir);
  const outcomes: SkillUpdateOutcome[] = [];
  for (const skill of wanted) {
    try {
      outcomes.push(await updateOne(skill, request, deps));
    } catch (error) {
      outcomes.push({ name: skill.name, status: "failed", reason: messageOf(error) });
    }
  }
  return outcomes;
}

async function updateOne(skill: InstalledSkill, { sha256, force, dryRun }: SkillUpdateRequest, deps: SkillInstallDeps): Promise<SkillUpdateOutcome> {
  const { name, record, changed, path } = skill;
  const source = parseSkillSource(record.spec, deps);
  using stage = openSkillStage(deps.skillsDir, deps.pid, deps.ids.hex(6));
  const fetched = await fetchSkill(source, stage.folder, sha256, deps);
  if (sameFiles(hashFiles(fetched.root), record.files) && (changed.length === 0 || !force)) {
    return changed.length === 0
      ? { name, status: "unchanged" }
      : { name, status: "skipped", reason: `${changed.join(", ")} changed here; there is no newer version. To restore the installed files, add --force` };
  }
  if (record.pinned === true && sha256 === undefined && fetched.sha256 !== record.sha256) {
    return {
      name,
      status: "skipped",
      reason: `the archive differs from the pinned one: its SHA-256 is ${fetched.sha256}. To accept it, add --sha256 with the new value`,
    };
  }
  if (changed.length > 0 && !force) return { name, status: "skipped", reason: `${changed.join(", ")} in ${path} changed here; to replace them, add --force` };
  const placed = await placeSkill({ request: { spec: record.spec, sha256, dryRun }, source, fetched, kind: "update", expected: name }, deps);
  return { name, status: placed.status === "dry run" ? "would update" : placed.status === "declined" ? "declined" : "updated" };
}

function notInstalled(name: string, installed: readonly InstalledSkill[], folder: string): AppError {
  const names = installed.map((skill) => skill.name).join(", ") || "none";
  return new AppError("NOT_FOUND", `no skill ${JSON.stringify(name)} was installed into ${folder}; installed there: ${names}`);
}

export interface SkillRemoval {
  readonly name: string;
  readonly path: string;
}

/** Removes a skill that was installed. `force`: also one that was written there by hand. */
export function removeSkill(
  name: string,
  { force, dryRun }: { readonly force?: boolean | undefined; readonly dryRun?: boolean | undefined },
  deps: Pick<SkillInstallDeps, "skillsDir" | "pid">,
): SkillRemoval {
  const { skillsDir, pid } = deps;
  recoverSkills(skillsDir);
  const path = join(skillsDir, name);
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name) || !existsSync(join(path, "SKILL.md"))) throw notInstalled(name, installedSkills(skillsDir), skillsDir);
  if (!readRecord(path) && force !== true) throw new AppError("CONFLICT", `${path} was not installed by openclaw; to delete it anyway, add --force`);
  if (dryRun !== true) swapSkill(skillsDir, name, undefined, pid);
  return { name, path };
}

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { ensureFolder, syncFolder } from "../../base/files.ts";
import { isRunning } from "../../base/process-identity.ts";

/** Hidden, so that nothing in them counts as a skill. The process that made one is in its name. */
const STAGING = /^\.staging-(\d+)-[0-9a-f]+$/;
const ASIDE = /^\.old-(\d+)-([a-z0-9][a-z0-9-]{0,63})$/;

export interface SkillStage extends Disposable {
  readonly folder: string;
}

/** A folder beside the skills, on the same disk. */
export function openSkillStage(skillsDir: string, pid: number, token: string): SkillStage {
  ensureFolder(skillsDir);
  const folder = join(skillsDir, `.staging-${pid}-${token}`);
  mkdirSync(folder, { mode: 0o700 });
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Puts a staged skill in its place, or takes one away. A process that dies in between leaves the old one aside, and `recoverSkills` puts it back: there is
 * always the old one or the new one, whole.
 */
export function swapSkill(skillsDir: string, name: string, staged: string | undefined, pid: number): void {
  const at = join(skillsDir, name);
  const aside = join(skillsDir, `.old-${pid}-${name}`);
  try {
    if (existsSync(aside)) throw new AppError("CONFLICT", `${name} is already being installed or removed; try again when it has finished`);
    const isThere = existsSync(at);
    if (isThere) renameSync(at, aside);
    failpoint("skills.change.aside");
    try {
      if (staged !== undefined) renameSync(staged, at);
    } catch (error) {
      if (isThere) renameSync(aside, at);
      throw error;
    }
    syncFolder(skillsDir);
    failpoint("skills.change.swapped");
    rmSync(aside, { recursive: true, force: true });
  } catch (error) {
    throw error instanceof AppError ? error : fileError(at, "could not move the skill into place", error);
  }
}

/** Tidies up after processes that died: what was moved aside and has no successor is put back. Gives what was done, for the log. */
export function recoverSkills(skillsDir: string, isAlive: (pid: number) => boolean = (pid) => isRunning({ pid })): readonly string[] {
  const done: string[] = [];
  for (const name of namesIn(skillsDir)) {
    const path = join(skillsDir, name);
    const staging = STAGING.exec(name);
    if (staging && !isAlive(Number(staging[1]))) rmSync(path, { recursive: true, force: true });
    const [, pid, skill] = ASIDE.exec(name) ?? [];
    if (pid === undefined || skill === undefined || isAlive(Number(pid))) continue;
    const at = join(skillsDir, skill);
    if (existsSync(at)) {
      rmSync(path, { recursive: true, force: true });
      done.push(`${skill}: the interrupted install was completed`);
    } else {
      renameSync(path, at);
      done.push(`${skill}: the interrupted change was rolled back`);
    }
    syncFolder(skillsDir);
  }
  return done;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return [];
    throw fileError(folder, "could not read the skills", error);
  }
}

/** Where an installed skill came from and what it was: a file beside its `SKILL.md`. */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../config/index.ts";
import { filesBelow } from "./scan.ts";
import type { SkillSource } from "./source.ts";

export const RECORD_FILE = ".openclaw-install.json";

export interface SkillRecord {
  readonly version: 1;
  readonly name: string;
  readonly source: SkillSource["kind"];
  /** As it was given; paths are absolute. */
  readonly spec: string;
  /** Of the archive. */
  readonly sha256?: string | undefined;
  /** The user named that hash: an update to another one needs its own. */
  readonly pinned?: boolean | undefined;
  readonly commit?: string | undefined;
  /** SHA-256 of every file. */
  readonly files: Readonly<Record<string, string>>;
  readonly installedAt: string;
}

/** Hashes of everything that is in a skill's folder now, apart from the record. */
export function hashFiles(folder: string): Readonly<Record<string, string>> {
  const files = filesBelow(folder, { others: true }).filter((file) => file !== RECORD_FILE);
  return Object.fromEntries(
    files.map((file) => [
      file,
      createHash("sha256")
        .update(contentOf(join(folder, file)))
        .digest("hex"),
    ]),
  );
}

/** None is installed with a link; one that was put there later is known by where it leads, and is not followed. */
function contentOf(path: string): string | Buffer {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  return stat.isFile() ? readFileSync(path) : "no file";
}

export function writeRecord(folder: string, record: SkillRecord): void {
  writeFileSync(join(folder, RECORD_FILE), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o644 });
}

/** Undefined for a skill that was not installed by this program, or whose record cannot be read. */
export function readRecord(folder: string): SkillRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, RECORD_FILE), "utf8"));
    return isRecordOfSkill(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecordOfSkill(value: unknown): value is SkillRecord {
  return isObject(value) && typeof value["name"] === "string" && typeof value["spec"] === "string" && isObject(value["files"]);
}

/** Files that are not as they were installed: changed, added or gone. */
export function changedFiles(folder: string, { files }: Pick<SkillRecord, "files">): readonly string[] {
  const now = hashFiles(folder);
  return [...new Set([...Object.keys(files), ...Object.keys(now)])].filter((file) => files[file] !== now[file]).sort();
}

export function sameFiles(left: Readonly<Record<string, string>>, right: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name]);
}

import { readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { ensureFolder, syncFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { sha256 } from "../sha256.ts";

const FOLDER = "config-versions";
/** Versions of one file that are kept. */
const KEPT = 20;
/** A file beside the others that has not become one of them for so long never will. */
const STALE_MS = 60_000;
const NAME = /^(\d{13,15})-([0-9a-f]{64})-([0-9a-f]{8})\.json5$/;
const ID = /^\d{13,15}-[0-9a-f]{64}-[0-9a-f]{8}$/;

/** An earlier text of the configuration file, with its secrets, which only its owner may read. */
export interface KeptVersion {
  readonly id: string;
  /** When it was first seen, or came back. */
  readonly at: number;
  readonly hash: string;
}

export interface VersionPlace {
  /** The state folder. */
  readonly state: string;
  /** The configuration file: several may share a state folder. */
  readonly path: string;
}

const folderOf = ({ state }: VersionPlace): string => join(state, FOLDER);
const markOf = ({ path }: VersionPlace): string => sha256(path).slice(0, 8);
const fileOf = (place: VersionPlace, id: string): string => join(folderOf(place), `${id}.json5`);

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw fileError(folder, "could not read the folder", error);
  }
}

/** Newest first. */
export function keptVersions(place: VersionPlace): readonly KeptVersion[] {
  const mark = markOf(place);
  return namesIn(folderOf(place))
    .flatMap((name) => {
      const [, at, hash = "", own] = NAME.exec(name) ?? [];
      return own === mark ? [{ id: name.slice(0, -".json5".length), at: Number(at), hash }] : [];
    })
    .sort((a, b) => b.at - a.at);
}

/** The text of a version. */
export function readVersion(place: VersionPlace, id: string): string {
  const gone = (): AppError =>
    new AppError("NOT_FOUND", `there is no version ${JSON.stringify(id.slice(0, 100))} of ${place.path}; config.versions lists them`);
  if (!ID.test(id) || !id.endsWith(markOf(place))) throw gone();
  try {
    return readFileSync(fileOf(place, id), "utf8");
  } catch (error) {
    throw systemCode(error) === "ENOENT" ? gone() : fileError(fileOf(place, id), "could not read", error);
  }
}

/** Keeps a text as the newest version. One that is kept already becomes the newest; the oldest go. A crash leaves all that were there. */
export function keepVersion(place: VersionPlace, text: string, deps: { readonly now: number; readonly ids: Ids }): void {
  const hash = sha256(text);
  const kept = keptVersions(place);
  if (kept[0]?.hash === hash) return;
  const at = Math.max(deps.now, (kept[0]?.at ?? 0) + 1);
  const target = fileOf(place, `${String(at).padStart(13, "0")}-${hash}-${markOf(place)}`);
  const same = kept.find((version) => version.hash === hash);
  if (same) {
    renameSync(fileOf(place, same.id), target);
    syncFolder(folderOf(place));
    return;
  }
  ensureFolder(folderOf(place));
  writeAtomic(target, text, { mode: 0o600, temporary: `${target}.${process.pid}.${deps.ids.hex(6)}.tmp` });
  for (const { id } of kept.slice(KEPT - 1)) rmSync(fileOf(place, id), { force: true });
  sweep(folderOf(place));
}

/** Takes away what a process left that died while it wrote. */
function sweep(folder: string): void {
  for (const name of namesIn(folder).filter((one) => one.endsWith(".tmp"))) {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > STALE_MS) rmSync(path, { force: true });
  }
}

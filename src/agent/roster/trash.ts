import { lstat, mkdir, realpath, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileError, systemCode } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";

export interface TrashOptions {
  /** Folder of what was put away. */
  readonly trash: string;
  /** Makes the names of this time different from those of all others. */
  readonly mark: string;
  /** Folders of others: neither they, nor what is in them, nor what they are in is touched. */
  readonly others: readonly string[];
  /** Folders that must stay where they are. What is in them may go. */
  readonly fixed: readonly string[];
}

/** What became of a folder. */
export type PutAway =
  | { readonly state: "moved"; readonly to: string }
  /** Nothing was there. */
  | { readonly state: "absent" }
  /** It stays, and why. */
  | { readonly state: "kept"; readonly why: string };

/** The path without links on the way; as it is when nothing is there. */
const real = (path: string): Promise<string> => realpath(path).catch(() => path);

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

async function moved(from: string, to: string): Promise<PutAway> {
  await rename(from, to);
  return { state: "moved", to };
}

/** Puts a folder away under a name. Nothing is erased. */
export async function putAway(folder: string, name: string, { trash, mark, others, fixed }: TrashOptions): Promise<PutAway> {
  if (!(await isThere(folder))) return { state: "absent" };
  const [own, theirs, staying] = await Promise.all([real(folder), Promise.all(others.map(real)), Promise.all(fixed.map(real))]);
  if (staying.some((path) => isInside(own, path))) return { state: "kept", why: "the program's own files are in it" };
  if (theirs.some((path) => isInside(own, path) || isInside(path, own))) return { state: "kept", why: "another agent uses it" };
  const place = join(trash, mark);
  try {
    await mkdir(place, { recursive: true, mode: 0o700 });
    return await moved(folder, join(place, name));
  } catch (error) {
    // On another disk it stays beside where it was.
    if (systemCode(error) !== "EXDEV") throw fileError(folder, "could not put away the folder", error);
    return await moved(folder, join(dirname(folder), `${basename(folder)}.deleted-${mark}`)).catch((failure: unknown) => {
      throw fileError(folder, "could not put away the folder", failure);
    });
  }
}

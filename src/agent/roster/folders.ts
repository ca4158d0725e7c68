/** Folders of agents: which of them may be the workspace of one more, and where those go that are put away. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { lstat, mkdir, realpath, rename } from "node:fs/promises";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { agentWorkspace, type OpenClawConfig, type PathContext } from "../../config/index.ts";

/** The path without links on the way, as far as it is there. */
function withoutLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(withoutLinks(parent), basename(path));
}

const refused = (message: string): AppError => new AppError("INVALID_INPUT", message);
const CHOOSE = "choose a separate folder";

interface WorkspaceFacts {
  readonly config: OpenClawConfig;
  readonly context: PathContext;
  /** Folders and files of the program itself: a workspace must not contain them. */
  readonly own: readonly string[];
}

/** Refuses a folder that cannot be the workspace of one more agent. */
export function checkWorkspace(folder: string, { config, context, own }: WorkspaceFacts): void {
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw refused(`the workspace ${folder} is a file; ${CHOOSE}`);
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    if (existsSync(above) && !statSync(above).isDirectory()) throw refused(`the workspace ${folder} cannot be created: ${above} is a file; ${CHOOSE}`);
  }
  const path = withoutLinks(folder);
  const held = own.find((one) => isInside(path, withoutLinks(one)));
  if (held !== undefined) throw refused(`the workspace ${folder} would contain ${held}, which an agent must not change; ${CHOOSE}`);
  const list = config.agents?.list ?? [];
  for (const { id } of list.length > 0 ? list : [{ id: "main" }]) {
    const theirs = withoutLinks(agentWorkspace(config, context, id));
    if (path === theirs) throw refused(`${folder} is the workspace of agent "${id}"; ${CHOOSE}`);
    if (isInside(theirs, path)) throw refused(`the workspace ${folder} is inside that of agent "${id}" (${theirs}); ${CHOOSE}`);
    if (isInside(path, theirs)) throw refused(`the workspace ${folder} contains that of agent "${id}" (${theirs}); ${CHOOSE}`);
  }
}

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
    if (systemCode(error) !== "EXDEV") throw fileError(folder, "could not move the folder to the trash", error);
    return await moved(folder, join(dirname(folder), `${basename(folder)}.deleted-${mark}`)).catch((failure: unknown) => {
      throw fileError(folder, "could not move the folder to the trash", failure);
    });
  }
}

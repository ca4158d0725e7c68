import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { agentWorkspace, type OpenClawConfig, type PathContext } from "../../config/index.ts";

/** The path without links on the way, as far as it is there. */
function real(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(real(parent), basename(path));
}

const refused = (message: string): AppError => new AppError("INVALID_INPUT", message);
const CHOOSE = "choose a folder of its own";

interface Place {
  readonly config: OpenClawConfig;
  readonly context: PathContext;
  /** Folders and files of the program itself: a workspace must not contain them. */
  readonly own: readonly string[];
}

/** Refuses a folder that cannot be the workspace of one more agent. */
export function checkWorkspace(folder: string, { config, context, own }: Place): void {
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw refused(`the workspace ${folder} is a file; ${CHOOSE}`);
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    if (existsSync(above) && !statSync(above).isDirectory()) throw refused(`the workspace ${folder} cannot be made: ${above} is a file; ${CHOOSE}`);
  }
  const path = real(folder);
  const held = own.find((one) => isInside(path, real(one)));
  if (held !== undefined) throw refused(`the workspace ${folder} would contain ${held}, which an agent must not change; ${CHOOSE}`);
  const list = config.agents?.list ?? [];
  for (const { id } of list.length > 0 ? list : [{ id: "main" }]) {
    const theirs = real(agentWorkspace(config, context, id));
    if (path === theirs) throw refused(`${folder} is the workspace of agent "${id}"; ${CHOOSE}`);
    if (isInside(theirs, path)) throw refused(`the workspace ${folder} is inside that of agent "${id}" (${theirs}); ${CHOOSE}`);
    if (isInside(path, theirs)) throw refused(`the workspace ${folder} contains that of agent "${id}" (${theirs}); ${CHOOSE}`);
  }
}

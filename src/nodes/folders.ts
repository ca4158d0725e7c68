/** The folders that a node offers: it advertises them when it connects, so that nobody is asked about a file that it must refuse. */
import { posix, win32 } from "node:path";
import type { NodeEntry } from "./registry.ts";

/** Permissions of a node are names with a yes or no; a folder is one with this in front. */
const PREFIX = "folder:";

export const folderPermissions = (folders: readonly string[]): Readonly<Record<string, boolean>> =>
  Object.fromEntries(folders.map((folder) => [`${PREFIX}${folder}`, true]));

/** In the order in which the node has them; empty when it does not say. */
const foldersOf = ({ permissions = {} }: Pick<NodeEntry, "permissions">): readonly string[] =>
  Object.entries(permissions).flatMap(([name, isGranted]) => (isGranted && name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));

/** A path on a node. */
export interface NodePath {
  /** In full, as far as this side can know it. */
  readonly path: string;
  /** The folders that it lies outside of; undefined when it lies in one, or when only the node knows. */
  readonly outsideOf?: readonly string[];
}

/** What a path means on a node: a relative one counts from the first folder that it offers. Links and `~` are the node's to resolve. */
export function nodePath(written: string, node: Pick<NodeEntry, "permissions">): NodePath {
  const folders = foldersOf(node);
  const [first] = folders;
  if (first === undefined || written.startsWith("~")) return { path: written };
  const { resolve, relative, isAbsolute, sep } = /^(?:[a-z]:[\\/]|\\\\)/i.test(first) ? win32 : posix;
  const path = resolve(first, written);
  const isIn = folders.some((folder) => {
    const rest = relative(folder, path);
    return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
  });
  return isIn ? { path } : { path, outsideOf: folders };
}

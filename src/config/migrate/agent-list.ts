import type { PlainObject } from "../value.ts";
import { fill, objectsIn, read, type MigrationTree } from "./tree.ts";

const LIST = ["agents", "list"];

/** The entry of `agents.list` with this id, made if it is not there. */
export function agentEntry(tree: MigrationTree, id: string): { readonly entry: PlainObject; readonly index: number } {
  const found = objectsIn(read(tree, LIST)).find(([, entry]) => entry["id"] === id);
  if (found) return { index: found[0], entry: found[1] };
  fill(tree, LIST, []);
  const list = read(tree, LIST);
  const entry: PlainObject = { id };
  if (!Array.isArray(list)) return { entry, index: 0 };
  return { entry, index: list.push(entry) - 1 };
}

/** The entry marked as default. */
export function defaultAgent(tree: MigrationTree): PlainObject | undefined {
  return objectsIn(read(tree, LIST)).find(([, entry]) => entry["default"] === true)?.[1];
}

/** The entry that acts as default: the marked one, else the first, else a new one named `main`. */
export function actingDefault(tree: MigrationTree): { readonly entry: PlainObject; readonly index: number } {
  const entries = objectsIn(read(tree, LIST));
  const found = entries.find(([, entry]) => entry["default"] === true) ?? entries[0];
  if (found) return { index: found[0], entry: found[1] };
  const made = agentEntry(tree, "main");
  made.entry["default"] = true;
  return made;
}

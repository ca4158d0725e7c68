import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, relative } from "node:path";

function look(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (stat.isDirectory()) return "folder";
  if (!stat.isFile()) return "no file";
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** A running gateway makes and moves files while we look: one that goes away in between is "gone". */
function describe(path: string): string {
  try {
    return look(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "gone";
    throw error;
  }
}

/** Every file below a folder (or the one file) with a hash of its bytes, to show that nothing of it was changed. */
export function fingerprint(path: string, skip: RegExp = /$^/): Record<string, string> {
  if (!existsSync(path)) return {};
  if (!lstatSync(path).isDirectory()) return { "": describe(path) };
  const found = readdirSync(path, { recursive: true, withFileTypes: true }).map((entry) => relative(path, join(entry.parentPath, entry.name)));
  return Object.fromEntries(
    found
      .filter((name) => !skip.test(name))
      .sort()
      .map((name) => [name, describe(join(path, name))]),
  );
}

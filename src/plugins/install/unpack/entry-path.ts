import type { InstallLimits } from "../limits.ts";
import { refused } from "../refusal.ts";

/**
 * The path of an archive's entry below the folder it is unpacked into, with `/` between its parts; empty for that folder itself.
 * Throws for a name that leads, or could lead on some system, to any other place.
 */
export function entryPath(name: string, limits: InstallLimits): string {
  if (name.includes("\0")) throw refused(name, "its name has a NUL character");
  if (name.includes("\\")) throw refused(name, "its name has a backslash, which is a path on some systems");
  if (name.startsWith("/")) throw refused(name, "it has an absolute path");
  if (/^[A-Za-z]:/.test(name)) throw refused(name, "its name begins with a drive letter");
  if (Buffer.byteLength(name) > limits.pathLength) throw refused(name, `its name is longer than ${limits.pathLength} bytes`);
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refused(name, 'its path has ".."');
  if (parts.length > limits.depth) throw refused(name, `it lies more than ${limits.depth} folders deep`);
  return parts.join("/");
}

/** Where a symbolic link at `path` leads, by text alone. Throws when that is outside. */
export function checkLinkTarget(path: string, target: string): void {
  if (target.includes("\0") || target.includes("\\")) throw refused(path, "it is a link with a strange target");
  if (target.startsWith("/") || /^[A-Za-z]:/.test(target)) throw refused(path, `it is a link to the absolute path ${JSON.stringify(target)}`);
  let depth = path.split("/").length - 1;
  for (const part of target.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) throw refused(path, `it is a link that leaves its folder: ${JSON.stringify(target)}`);
  }
}

import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside } from "../../base/files.ts";

/** Longer texts name no file on any system. */
const MAX_PATH = 4096;

/** The paths that a text can mean: as an address of a file, in the home folder, absolute, or from a folder that files are sent from. */
function pathsIn(written: string, roots: readonly string[]): readonly string[] {
  const text = written.trim();
  if (/^file:/i.test(text)) {
    try {
      return [fileURLToPath(text)];
    } catch {
      return [];
    }
  }
  if (text.startsWith("~/")) return [resolve(homedir(), text.slice(2))];
  if (isAbsolute(text)) return [resolve(text)];
  if (text === "" || text.length > MAX_PATH || /^[a-z][a-z0-9+.-]*:/i.test(text)) return [];
  // A bare word from the program's own folder is a word.
  return [...roots.map((root) => resolve(root, text)), ...(/[/\\]/.test(text) ? [resolve(text)] : [])];
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}

/**
 * The first text anywhere in `params` that names a file of this machine outside of the folders that files may be sent from. Channels take files under names
 * of their own, so no list of names is asked; what is only shown to people is left out by the caller.
 */
export async function fileOutside(params: unknown, roots: readonly string[]): Promise<string | undefined> {
  const real = async (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);
  const allowed = (await Promise.all(roots.map(real))).filter((root) => root !== undefined);
  for (const text of textsIn(params)) {
    for (const path of text.includes("\0") ? [] : pathsIn(text, roots)) {
      const found = await real(path);
      if (found !== undefined && !allowed.some((root) => isInside(root, found))) return text;
    }
  }
  return undefined;
}

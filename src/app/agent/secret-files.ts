import { readFileSync, statSync } from "node:fs";

/** Longer files are no secrets by themselves. */
const MOST_BYTES = 64 * 1024;

/** Tells what files hold that the configuration names for a secret, so that it can be masked before anybody asked for it. Folders are passed over. */
export function tellSecretFiles(paths: readonly string[], tell: (secret: string) => void): void {
  for (const path of paths) {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() && stat.size <= MOST_BYTES) textsIn(readFileSync(path, "utf8")).forEach(tell);
    } catch {
      // Who needs it is told why it cannot be read.
    }
  }
}

/** The file itself, or every text in it where it is JSON. */
function textsIn(text: string): readonly string[] {
  try {
    return leaves(JSON.parse(text));
  } catch {
    return [text.trim()];
  }
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}

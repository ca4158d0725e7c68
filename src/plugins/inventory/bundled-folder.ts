import { isRecord } from "../../base/records.ts";
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Env } from "../../config/index.ts";

const LEVELS = 6;

/**
 * The folder of the plugins that come with the program: `OPENCLAW_BUNDLED_PLUGINS_DIR`, else `plugins` in the package that holds the
 * file `from`. Undefined when there is none.
 */
export function bundledFolder(env: Env, from: string): string | undefined {
  const own = env["OPENCLAW_BUNDLED_PLUGINS_DIR"]?.trim();
  if (own) return resolve(own);
  const host = hostPackage(from);
  if (host === undefined) return undefined;
  const plugins = join(host, "plugins");
  return statSync(plugins, { throwIfNoEntry: false })?.isDirectory() ? plugins : undefined;
}

/** The folder of the program's own package, which holds the file `from`. */
export function hostPackage(from: string): string | undefined {
  let folder = dirname(from);
  for (let level = 0; level < LEVELS; level += 1) {
    if (isOurs(join(folder, "package.json"))) return folder;
    folder = dirname(folder);
  }
  return undefined;
}

function isOurs(path: string): boolean {
  try {
    const found: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRecord(found) && found["name"] === "openclaw";
  } catch {
    return false; // Missing, or not valid JSON.
  }
}

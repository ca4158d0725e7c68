import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import type { RunQmd } from "./command.ts";
import type { QmdSettings } from "./settings.ts";

const ADDED = "collections.json";

/** Collections as they were added last time, by name. */
function added(home: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(join(home, ADDED), "utf8")) as Record<string, string>;
  } catch {
    return {};
  }
}

/** Makes the collections that the configuration names known to the program, and removes others that it got from here. */
export async function addCollections({ home, collections, update }: QmdSettings, workspace: string, run: RunQmd): Promise<void> {
  for (const folder of [home, join(home, "xdg-config"), join(home, "xdg-cache")]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(workspace, { recursive: true });
  const before = added(home);
  const now = Object.fromEntries(collections.map(({ name, root, pattern }) => [name, `${root}\n${pattern}`]));
  for (const name of Object.keys(before))
    if (before[name] !== now[name]) await run(["collection", "remove", name], update.commandTimeoutMs).catch(() => undefined);
  for (const { name, root, pattern } of collections) {
    if (before[name] === now[name]) continue;
    mkdirSync(root, { recursive: true });
    await run(["collection", "add", root, "--name", name, "--mask", pattern], update.commandTimeoutMs).catch((error: unknown) => {
      if (!/already exists|duplicate/i.test(messageOf(error))) throw error;
    });
  }
  const file = join(home, ADDED);
  writeAtomic(file, JSON.stringify(now), { mode: 0o600, temporary: `${file}.tmp` });
}

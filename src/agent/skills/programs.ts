import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Env } from "../../config/index.ts";

/** Which of these programs are on the path of `env`. */
export async function findPrograms(names: Iterable<string>, env: Env, platform: NodeJS.Platform): Promise<ReadonlySet<string>> {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(Boolean);
  const endings = platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT;.COM").split(";")] : [""];
  const wanted = [...new Set(names)].filter((name) => /^[^/\\\0]+$/.test(name));
  const found = await Promise.all(
    wanted.map((name) =>
      isThere(
        folders,
        endings.map((ending) => name + ending),
      ),
    ),
  );
  return new Set(wanted.filter((_, index) => found[index]));
}

/** As `findPrograms`, looking again only when a folder of the path changed. */
export function createProgramFinder(env: Env, platform: NodeJS.Platform): (names: Iterable<string>) => Promise<ReadonlySet<string>> {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(Boolean);
  let known = { marks: "", programs: new Map<string, boolean>() };
  return async (names) => {
    const stats = await Promise.all(folders.map((folder) => stat(folder, { bigint: true }).catch(() => undefined)));
    const marks = stats.map((found) => `${found?.ino}:${found?.mtimeNs}`).join();
    if (known.marks !== marks) known = { marks, programs: new Map() };
    const { programs } = known;
    const wanted = [...new Set(names)];
    const unknown = wanted.filter((name) => !programs.has(name));
    if (unknown.length > 0) {
      const found = await findPrograms(unknown, env, platform);
      for (const name of unknown) programs.set(name, found.has(name));
    }
    return new Set(wanted.filter((name) => programs.get(name)));
  };
}

async function isThere(folders: readonly string[], names: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    for (const name of names) {
      if (await isProgram(join(folder, name))) return true;
    }
  }
  return false;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

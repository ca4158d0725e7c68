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

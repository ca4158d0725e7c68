/**
 * Every build is a folder of its own (`dist-b<number>`), and `dist` is a link to the newest: a gateway that runs keeps the files it was started from, and
 * a build that fails leaves what runs alone. `bin/openclaw` leaves a file with its process id in the folder that a gateway runs from.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const buildsOf = (name: string, parent: string): string[] => readdirSync(parent).filter((entry) => new RegExp(`^${name}-b\\d+$`).test(entry));
const numberOf = (build: string): number => Number(build.slice(build.lastIndexOf("b") + 1));

/** Makes an empty folder for the next build of `name`. */
export function newBuild(name: string, parent = "."): string {
  const next = Math.max(0, ...buildsOf(name, parent).map(numberOf)) + 1;
  const folder = join(parent, `${name}-b${next}`);
  mkdirSync(folder);
  return folder;
}

/** Makes `name` the finished build and removes the ones before it that nothing runs from. */
export function useBuild(name: string, build: string, parent = "."): void {
  const link = join(parent, name);
  // A folder is what builds were before they had links.
  if (existsSync(link) && !lstatSync(link).isSymbolicLink()) rmSync(link, { recursive: true });
  const fresh = `${link}.new`;
  rmSync(fresh, { recursive: true, force: true });
  // A junction needs no rights on Windows, and a whole path.
  if (process.platform === "win32") symlinkSync(resolve(build), fresh, "junction");
  else symlinkSync(build.slice(build.lastIndexOf("/") + 1), fresh);
  renameSync(fresh, link);
  const current = numberOf(build);
  for (const old of buildsOf(name, parent)) {
    // A higher number is a build that runs beside this one.
    if (numberOf(old) < current && !isInUse(join(parent, old))) rmSync(join(parent, old), { recursive: true, force: true });
  }
}

function isInUse(build: string): boolean {
  return readdirSync(build).some((entry) => {
    const pid = /^\.running-(\d+)$/.exec(entry)?.[1];
    return pid !== undefined && isAlive(Number(pid));
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

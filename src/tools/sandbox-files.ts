import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { AppError } from "../base/errors.ts";
import { isInside } from "../base/files.ts";
import { createRootedFiles, type RootedFiles, type RootedFilesOptions } from "../base/rooted-files.ts";

/** A folder of this machine that is shown in a sandbox. */
export interface FileMount {
  readonly inside: string;
  readonly host: string;
  readonly writable: boolean;
}

/** Where the files of a session in a sandbox lie. */
export interface SandboxFiles {
  /** The first one is the workspace; relative paths are meant from it. */
  readonly mounts: readonly [FileMount, ...FileMount[]];
  /** No tool but `exec` may change anything here. */
  readonly readOnly: boolean;
  /** Makes the workspace ready. Throws when the sandbox cannot be had: nothing is reached then. */
  ready(): Promise<void>;
}

export interface Located {
  /** On this machine. */
  readonly path: string;
  /** The mounted folder that holds it. */
  readonly root: string;
  readonly writable: boolean;
}

/**
 * A path as it is inside, else relative to the agent's workspace, else as it is on the host; each in the deepest folder that holds it.
 * Throws when none does.
 */
export function sandboxPath({ mounts }: SandboxFiles, workspaceDir: string, path: string): Located {
  const [workspace] = mounts;
  const insidePath = join(workspace.inside, relative(workspaceDir, path));
  const views = [
    { path, mounts: mounts.map((mount) => ({ ...mount, shown: mount.inside })) },
    { path, mounts: mounts.map((mount) => ({ ...mount, shown: mount.host })).filter(({ host }) => host !== workspaceDir) },
    { path: insidePath, mounts: isInside(workspaceDir, path) ? mounts.map((mount) => ({ ...mount, shown: mount.inside })) : [] },
  ];
  for (const view of views) {
    const [mount] = view.mounts.filter(({ shown }) => isInside(shown, view.path)).sort((one, other) => other.shown.length - one.shown.length);
    if (mount) return { path: join(mount.host, relative(mount.shown, view.path)), root: mount.host, writable: mount.writable };
  }
  throw new AppError("PERMISSION_DENIED", `Path escapes sandbox root (${workspace.host}): ${path}`);
}

/** Files by the paths of a sandbox. Links that lead out of a mounted folder are not followed. */
export function openSandboxFiles(sandbox: SandboxFiles, workspaceDir: string, { check, unique }: Pick<RootedFilesOptions, "check" | "unique">): RootedFiles {
  const sealed = sandbox.mounts.filter(({ writable }) => !writable);
  const options: Pick<RootedFilesOptions, "check" | "unique"> = {
    unique,
    // A link inside may lead from a folder that can be written into one that cannot.
    async check(path, access, ...rest) {
      const roots = access === "write" ? await Promise.all(sealed.map(({ host }) => realpath(host).catch(() => host))) : [];
      if (roots.some((root) => isInside(root, path))) throw new AppError("PERMISSION_DENIED", `Sandbox path is read-only; cannot change files: ${path}`);
      await check?.(path, access, ...rest);
    },
  };
  async function at(path: string): Promise<Located> {
    await sandbox.ready();
    return sandboxPath(sandbox, workspaceDir, path);
  }
  async function toChange(path: string, what: string): Promise<Located> {
    const found = await at(path);
    if (sandbox.readOnly || !found.writable) throw new AppError("PERMISSION_DENIED", `Sandbox path is read-only; cannot ${what}: ${path}`);
    return found;
  }
  async function look<T>(path: string, act: (files: RootedFiles, path: string) => Promise<T>): Promise<T> {
    const found = await at(path);
    try {
      return await act(createRootedFiles({ ...options, root: found.root }), found.path);
    } catch (error) {
      if (error instanceof AppError && error.code === "NOT_FOUND") throw new AppError("NOT_FOUND", `Sandbox FS error (ENOENT): ${path}`, { cause: error });
      throw error;
    }
  }
  return {
    open: (path) => look(path, (files, host) => files.open(host)),
    folder: (path) => look(path, (files, host) => files.folder(host)),
    async write(path, content) {
      const found = await toChange(path, "write files");
      await createRootedFiles({ ...options, root: found.root }).write(found.path, content);
    },
    async remove(path) {
      const found = await toChange(path, "remove files");
      await createRootedFiles({ ...options, root: found.root }).remove(found.path);
    },
  };
}

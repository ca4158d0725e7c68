import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, posix } from "node:path";
import { AppError } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import type { FileMount } from "../sandbox-files.ts";
import type { SandboxSettings } from "./settings.ts";

/** Where the agent's workspace is shown when it may only be read. */
export const AGENT_MOUNT = "/agent";

/** The gateway's own folder in a workspace. */
export const OWN_FOLDER = ".openclaw";

/** Folders of a host that no sandbox is shown, nor what lies in them, nor what holds them. */
const KEPT = ["/etc", "/private/etc", "/proc", "/sys", "/dev", "/root", "/boot", "/run", "/var/run", "/private/var/run"];
/** Folders inside that a mount must not take the place of. */
const TAKEN = ["/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"];

export interface MountFacts {
  readonly access: SandboxSettings["workspaceAccess"];
  /** The sandbox's own workspace, on the host. */
  readonly folder: string;
  /** The agent's workspace, on the host. */
  readonly workspaceDir: string;
  readonly workdir: string;
  readonly binds: readonly string[];
  /** The gateway's own folder: keys and conversations. */
  readonly stateDir: string;
  /** Files that decide what an agent may do, wherever they lie and whether or not they are there yet: no sandbox may write them. */
  readonly ownFiles: readonly string[];
  /** Mounts below the workspace inside would be made by a path that the agent can lead elsewhere. */
  readonly beside?: boolean;
}

/** What of this machine is shown inside; the workspace comes first. Throws when that would open the sandbox. */
export function mountPlan({ access, folder, workspaceDir, workdir, binds, stateDir, ownFiles, beside }: MountFacts): readonly [FileMount, ...FileMount[]] {
  if (!posix.isAbsolute(workdir) || workdir === "/" || TAKEN.some((taken) => isInside(taken, workdir)))
    throw refused(`the folder ${workdir} cannot be the workspace inside; use one such as /workspace`);
  const workspace = { inside: workdir, host: access === "rw" ? workspaceDir : folder, writable: true };
  // Plugins of the workspace lie in there, which the gateway may load: code of its own that nobody inside may write. The whole folder, since another
  // one could be put in the place of a part of it.
  const own = access === "rw" ? [{ inside: posix.join(workdir, OWN_FOLDER), host: join(workspaceDir, OWN_FOLDER), writable: false }] : [];
  const agent = access === "ro" ? [{ inside: AGENT_MOUNT, host: workspaceDir, writable: false }] : [];
  const extra = binds.map(parseBind);
  const mounts: readonly [FileMount, ...FileMount[]] = [workspace, ...own, ...agent, ...extra];
  for (const bind of extra) {
    const swappable = mounts.find(({ host, writable }) => writable && host !== bind.host && isInside(host, bind.host));
    if (swappable) throw refused(`the mount ${bind.host} lies in ${swappable.host}, where the sandbox could replace it`);
    if (beside && isInside(workdir, bind.inside)) throw refused(`the mount ${bind.inside} lies in the workspace ${workdir}; use a folder beside it`);
  }
  for (const { host, writable } of mounts) {
    const file = writable ? ownFiles.find((one) => isInside(realPath(host), realPath(one))) : undefined;
    if (file !== undefined) throw refused(`${host} contains ${file}, which controls what agents may do; choose a workspace or mount without it, or "ro"`);
    if (isInside(realPath(host), realPath(stateDir)))
      throw refused(`${host} contains the gateway's own folder ${stateDir}, with its keys; choose a workspace or mount without it`);
  }
  return mounts;
}

function parseBind(bind: string): FileMount {
  if (bind.includes("\0")) throw refused("a mount has a null character");
  const [host = "", inside = "", mode = "rw", ...rest] = bind.trim().split(":");
  if (!isAbsolute(host)) throw refused(`the mount ${JSON.stringify(bind)} must begin with an absolute folder of the host`);
  if (!posix.isAbsolute(inside) || rest.length > 0) throw refused(`the mount ${JSON.stringify(bind)} is not /host:/inside or /host:/inside:ro`);
  const options = mode.split(",");
  if (!options.every((option) => ["ro", "rw", "z", "Z"].includes(option)))
    throw refused(`the mount ${JSON.stringify(bind)} has the mode ${mode}; use ro or rw`);
  if (inside === "/" || TAKEN.some((taken) => posix.normalize(inside) === taken || isInside(inside, taken) || isInside("/proc", inside)))
    throw refused(`the mount ${JSON.stringify(bind)} would replace the sandbox's own folders`);
  for (const source of [host, realPath(host)]) {
    const kept = KEPT.find((folder) => isInside(folder, source) || isInside(source, folder));
    if (source === "/" || kept !== undefined)
      throw refused(`the mount ${JSON.stringify(bind)} would show ${source === "/" ? "the whole host" : kept}; mount a narrower folder`);
  }
  return { inside: posix.normalize(inside), host: posix.normalize(host), writable: !options.includes("ro") };
}

/** Of a path that is not there yet, as far as it is. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), path.slice(parent.length));
  }
}

function refused(text: string): AppError {
  return new AppError("PERMISSION_DENIED", `Sandbox security: ${text}`);
}

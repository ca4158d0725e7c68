import { join } from "node:path";
import { parseSize } from "../../../config/index.ts";
import type { InsideCommand, SandboxPlan } from "../backend.ts";
import { hostView } from "./host-view.ts";

/** Who somebody is inside, whoever runs the gateway. */
const USER_ID = "1000";
const DEFAULT_TMP_BYTES = 256 * 1024 * 1024;
const SMALL_TMP_BYTES = 16 * 1024 * 1024;
/** Sets the limits, then becomes the command. Shells name the limit of processes differently. */
const LIMITS = 'ulimit -c 0; ulimit -p "$1" 2>/dev/null || ulimit -u "$1"; [ "$2" = - ] || ulimit -v "$2"; [ "$3" = - ] || ulimit -f "$3"; shift 3; exec "$@"';

export interface ArgumentFacts {
  /** Folder with `passwd` and `group` for inside. */
  readonly etc: string;
  /** Folders of this machine that stay empty where they would be seen. */
  readonly hidden: readonly string[];
  /** Whether this version knows an option. */
  readonly has: (option: string) => boolean;
}

/** Everything that is taken away and everything that is given, in the order in which it is done. */
export function bwrapArguments({ settings, mounts }: SandboxPlan, command: InsideCommand, { etc, hidden, has }: ArgumentFacts): readonly string[] {
  const { bwrap } = settings;
  const tmp = sizeOf(bwrap.tmpSize) ?? DEFAULT_TMP_BYTES;
  const memoryFolder = (folder: string, bytes: number): string[] => [
    ...(has("--perms") ? ["--perms", "1777"] : []),
    ...(has("--size") ? ["--size", String(bytes)] : []),
    "--tmpfs",
    folder,
  ];
  const steps: readonly (readonly string[])[] = [
    ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    bwrap.network === "host" ? [] : ["--unshare-net"],
    ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--uid", USER_ID, "--gid", USER_ID, "--hostname", "sandbox"],
    has("--disable-userns") ? ["--disable-userns"] : [],
    hostView(bwrap.network, hidden),
    ["--ro-bind", join(etc, "passwd"), "/etc/passwd", "--ro-bind", join(etc, "group"), "/etc/group"],
    // Without the second step root could change the kernel's settings through the files of /proc/sys, capabilities or not.
    ["--proc", "/proc", "--remount-ro", "/proc"],
    ["--dev", "/dev", ...memoryFolder("/dev/shm", tmp), "--remount-ro", "/dev"],
    [...memoryFolder("/tmp", tmp), ...memoryFolder("/var/tmp", tmp), ...memoryFolder("/run", SMALL_TMP_BYTES)],
    mounts.flatMap(({ inside, host, writable }) => [writable ? "--bind" : "--ro-bind", host, inside]),
    ["--remount-ro", "/", "--chdir", command.cwd, "--", "/bin/sh", "-c", LIMITS, "sh"],
    [String(bwrap.pidsLimit), blocks(bwrap.memory, 1024), blocks(bwrap.fileSize, 512)],
    command.argv,
  ];
  return steps.flat();
}

function sizeOf(written: string | number | undefined): number | undefined {
  return written === undefined ? undefined : parseSize(written);
}

/** A limit as shells count it; `-` for none. */
function blocks(written: string | number | undefined, bytes: number): string {
  const size = sizeOf(written);
  return size === undefined ? "-" : String(Math.ceil(size / bytes));
}

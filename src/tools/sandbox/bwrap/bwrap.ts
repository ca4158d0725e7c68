import { join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { ensureFolder, isInside, writeAtomic } from "../../../base/files.ts";
import type { Ids } from "../../../base/ids.ts";
import { run } from "../../../base/spawn.ts";
import { resolveExecutable } from "../../executables.ts";
import type { Availability, InsideCommand, OutsideCommand, SandboxBackend, SandboxPlan } from "../backend.ts";
import { insideEnvironment } from "../environment.ts";
import { parseSize } from "../../../config/index.ts";
import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync } from "node:fs";

const EVERY_MS = 50;

/**
 * Ends a sandbox that holds more than `most` processes. The kernel's own limit does not bind root, under whatever name it runs inside: this
 * does, a moment later.
 */
function watchProcesses(pid: number, most: number, clock: Pick<Clock, "after">, kill: () => void): Disposable {
  let timer: Disposable | undefined;
  let first: string | undefined;
  const look = (): void => {
    first ??= firstInside(pid);
    if (first !== undefined && countInside(first) > most) return kill();
    timer = clock.after(EVERY_MS, look);
  };
  timer = clock.after(EVERY_MS, look);
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

/** The first process of the namespace, as this machine numbers it. */
function firstInside(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").find(Boolean);
  } catch {
    return undefined;
  }
}

/** What a look at the sandbox's own /proc counts. */
function countInside(first: string): number {
  try {
    return readdirSync(join("/proc", first, "root", "proc")).filter((name) => /^\d+$/.test(name)).length;
  } catch {
    return 0;
  }
}

/** Programs and libraries. Where they are links into /usr, links they stay. */
const SYSTEM = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Of /etc only what programs need to start and speak; no users, keys or services. */
const SETTINGS = [
  "alternatives",
  "bash.bashrc",
  "ca-certificates",
  "ca-certificates.conf",
  "debian_version",
  "gitconfig",
  "host.conf",
  "inputrc",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "locale.alias",
  "locale.conf",
  "localtime",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "pki/ca-trust",
  "pki/tls/certs",
  "profile",
  "protocols",
  "services",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
];
/** Only of use where there is a network. */
const NETWORK_SETTINGS = ["hosts", "resolv.conf"];

/** Arguments that show the system to read and nothing else of this machine. `hidden` folders below it stay empty. */
function hostView(network: "none" | "host", hidden: readonly string[]): readonly string[] {
  const args = ["--ro-bind", "/usr", "/usr"];
  for (const folder of SYSTEM) args.push(...shown(folder));
  for (const name of [...SETTINGS, ...(network === "host" ? NETWORK_SETTINGS : [])]) args.push("--ro-bind-try", `/etc/${name}`, `/etc/${name}`);
  for (const folder of ["/usr/local/etc", ...hidden]) {
    if (existsSync(folder) && ["/usr", ...SYSTEM].some((root) => isInside(root, folder))) args.push("--tmpfs", folder, "--remount-ro", folder);
  }
  return args;
}

function shown(folder: string): readonly string[] {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(folder), folder] : ["--ro-bind", folder, folder];
}

/** The user inside, whichever user runs the gateway. */
const USER_ID = "1000";
const DEFAULT_TMP_BYTES = 256 * 1024 * 1024;
const SMALL_TMP_BYTES = 16 * 1024 * 1024;
/** Sets the limits, then becomes the command. Shells name the limit of processes differently. */
const LIMITS = 'ulimit -c 0; ulimit -p "$1" 2>/dev/null || ulimit -u "$1"; [ "$2" = - ] || ulimit -v "$2"; [ "$3" = - ] || ulimit -f "$3"; shift 3; exec "$@"';

interface ArgumentFacts {
  /** Folder with `passwd` and `group` for inside. */
  readonly etc: string;
  /** Folders of this machine that stay empty where they would be seen. */
  readonly hidden: readonly string[];
  /** Whether this version knows an option. */
  readonly has: (option: string) => boolean;
}

/** Everything that is taken away and everything that is given, in the order in which it is done. */
function bwrapArguments({ settings, mounts }: SandboxPlan, command: InsideCommand, { etc, hidden, has }: ArgumentFacts): readonly string[] {
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

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** The only user and group that are known inside. */
const USERS = { passwd: "sandbox:x:1000:1000:sandbox:/workspace:/bin/sh\n", group: "sandbox:x:1000:\n" };
const TRY_MS = 10_000;
const TRY_BYTES = 64 * 1024;

export interface BwrapDeps {
  readonly clock: Pick<Clock, "after">;
  readonly ids: Pick<Ids, "hex">;
  /** The gateway's own folder; small files that are shown inside are made in it. */
  readonly stateDir: string;
  /** The gateway's own environment: where the program is looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The gateway's user; undefined where there are none. */
  readonly uid: number | undefined;
  readonly warn: (text: string) => void;
}

/**
 * Bubblewrap: each command in namespaces of its own, which end with it. Nothing of this machine is seen but its programs, to read, and what is
 * mounted; nobody inside has a capability, a way to get one, or a network unless it was allowed.
 */
export function createBwrap(deps: BwrapDeps): SandboxBackend {
  const etc = join(deps.stateDir, "sandbox", "etc");
  const working = new Set<string>();
  /** What each program says about its options: older versions lack some. */
  const helps = new Map<string, string>();

  const program = (plan: SandboxPlan): string | undefined => resolveExecutable(plan.settings.bwrap.command, "/", deps.env["PATH"] ?? PATH);

  async function makeReady(file: string): Promise<void> {
    ensureFolder(etc);
    for (const name of ["passwd", "group"] as const) {
      writeAtomic(join(etc, name), USERS[name], { mode: 0o644, temporary: join(etc, `.${name}.${deps.ids.hex(6)}`) });
    }
    if (helps.has(file)) return;
    const { stdout, stderr } = await run(file, { args: ["--help"], env: { PATH }, timeoutMs: TRY_MS, maxOutputBytes: TRY_BYTES });
    helps.set(file, stdout + stderr);
  }

  function args(plan: SandboxPlan, command: InsideCommand): readonly string[] {
    const help = helps.get(program(plan) ?? "") ?? "";
    return bwrapArguments(plan, command, { etc, hidden: [deps.stateDir, deps.home], has: (option) => help.includes(option) });
  }

  async function availability(plan: SandboxPlan): Promise<Availability> {
    const { command, network } = plan.settings.bwrap;
    const file = program(plan);
    if (file === undefined) return { ok: false, why: `${command} is not installed; install bubblewrap (apt install bubblewrap, dnf install bubblewrap)` };
    const key = `${file} ${network}`;
    if (working.has(key)) return { ok: true };
    try {
      await makeReady(file);
      const inside: InsideCommand = { argv: ["/bin/true"], cwd: "/", env: {}, path: PATH };
      const tried = args({ ...plan, mounts: [] as unknown as SandboxPlan["mounts"] }, inside);
      const { code, stderr } = await run(file, { args: tried, cwd: "/", env: { PATH }, timeoutMs: TRY_MS, maxOutputBytes: TRY_BYTES });
      if (code !== 0) return { ok: false, why: `${file} cannot create a sandbox here: ${stderr.trim() || `it exited with code ${code}`}` };
      working.add(key);
      return { ok: true };
    } catch (error) {
      return { ok: false, why: messageOf(error) };
    }
  }

  return {
    shell: ["/bin/sh", "-c"],
    path: PATH,
    hostPrograms: true,
    availability,
    prepare: () => Promise.resolve(),
    command(plan, command): OutsideCommand {
      const { bwrap } = plan.settings;
      const workdir = plan.mounts[0].inside;
      const env = { ...insideEnvironment(bwrap.env, deps.warn), HOME: workdir, TMPDIR: "/tmp", USER: "sandbox", LOGNAME: "sandbox", ...command.env };
      return {
        file: program(plan) ?? bwrap.command,
        args: args(plan, command),
        cwd: "/",
        // Variables pass through the program's own environment: its arguments can be seen by everybody on this machine.
        env: { ...env, PATH: command.path, PWD: command.cwd },
        ...(deps.uid === 0 ? { attend: (pid: number, kill: () => void) => watchProcesses(pid, bwrap.pidsLimit, deps.clock, kill) } : {}),
      };
    },
  };
}

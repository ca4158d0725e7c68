import { join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";
import type { Ids } from "../../../base/ids.ts";
import { run } from "../../../base/spawn.ts";
import { resolveExecutable } from "../../exec/executables.ts";
import type { Availability, InsideCommand, OutsideCommand, SandboxBackend, SandboxPlan } from "../backend.ts";
import { insideEnvironment } from "../environment.ts";
import { bwrapArguments } from "./arguments.ts";
import { watchProcesses } from "./process-limit.ts";

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
      if (code !== 0) return { ok: false, why: `${file} cannot make a sandbox here: ${stderr.trim() || `it ended with code ${code}`}` };
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

import { shellQuote } from "../../../base/text.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import { resolveExecutable } from "../../executables.ts";
import type { Availability, InsideCommand, OutsideCommand, SandboxBackend } from "../backend.ts";
import { insideEnvironment } from "../environment.ts";
import { createBrowsers, type BrowsersDeps } from "./browsers.ts";
import { createContainers } from "./containers.ts";
import { createDockerCli, isClientVariable } from "./docker-cli.ts";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Marks what a command started: killing the client leaves it running inside. */
const MARK = "OPENCLAW_EXEC_ID";
const KILL_MARKED = `for d in /proc/[0-9]*; do tr '\\0' '\\n' <"$d/environ" 2>/dev/null | grep -qx "$1" && kill -KILL "\${d#/proc/}" 2>/dev/null; done; true`;

export interface DockerDeps extends Omit<BrowsersDeps, "cli"> {
  readonly ids: Pick<Ids, "hex">;
  /** The gateway's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Containers through the docker client: one for each scope, made at first use, kept until it is idle for long. */
export function createDocker(deps: DockerDeps): SandboxBackend {
  const cli = createDockerCli(deps.env);
  const containers = createContainers({ ...deps, cli });
  const browsers = createBrowsers({ ...deps, cli });

  return {
    shell: ["sh", "-lc"],
    path: PATH,
    async availability(): Promise<Availability> {
      if (resolveExecutable("docker", "/", deps.env["PATH"] ?? PATH) === undefined) return { ok: false, why: "docker is not installed or not on PATH" };
      try {
        await cli.must(["version", "--format", "{{.Server.Version}}"], "the docker engine is not responding");
        return { ok: true };
      } catch (error) {
        return { ok: false, why: messageOf(error) };
      }
    },
    prepare: containers.ensure,
    browser: browsers.ensure,
    screenUrl: browsers.screenUrl,
    command(plan, command): OutsideCommand {
      const name = containers.nameOf(plan);
      const { docker } = plan.settings;
      const mark = deps.ids.hex(16);
      const given = { ...insideEnvironment(docker.env, deps.warn), HOME: docker.workdir, ...command.env, PATH: command.path, [MARK]: mark };
      const args = ["exec", "-i", "-w", command.cwd];
      for (const [key, value] of Object.entries(given)) args.push("-e", isClientVariable(key) ? `${key}=${value}` : key);
      return {
        file: resolveExecutable("docker", "/", deps.env["PATH"] ?? PATH) ?? "docker",
        args: [...args, name, ...withPath(command)],
        cwd: "/",
        // Values pass through the client's environment: its arguments can be seen by everybody on this machine.
        env: { ...Object.fromEntries(Object.entries(given).filter(([key]) => !isClientVariable(key))), ...cli.env },
        async killInside() {
          const result = await cli.run(["exec", name, "sh", "-c", KILL_MARKED, "sh", `${MARK}=${mark}`]);
          if (result.code !== 0) throw new AppError("UNAVAILABLE", `could not end a command in ${name}: ${result.stderr.trim()}`);
        },
      };
    },
  };
}

/** A login shell sets PATH by its profile: one that was asked for is put in front of it again. */
function withPath({ argv, path }: InsideCommand): readonly string[] {
  if (path === PATH) return argv;
  const [script] = argv.slice(-1);
  return [...argv.slice(0, -1), `export PATH=${shellQuote(path)}:"$PATH"; ${script}`];
}

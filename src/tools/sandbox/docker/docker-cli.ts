import { AppError, messageOf } from "../../../base/errors.ts";
import { run, type SpawnResult } from "../../../base/spawn.ts";
import { DEFAULT_IMAGE } from "../settings.ts";

const BASE_IMAGE = "debian:bookworm-slim";
const SHORT_MS = 30_000;
const LONG_MS = 10 * 60_000;
const MOST_BYTES = 4 * 1024 * 1024;
/** What the client itself reads: where the engine is and how to log in to it. */
const CLIENT_VARIABLES = /^(?:PATH|HOME|DOCKER_.*|XDG_RUNTIME_DIR|XDG_CONFIG_HOME|SSH_AUTH_SOCK|HTTPS?_PROXY|NO_PROXY)$/i;

type Env = Readonly<Record<string, string | undefined>>;

/** The command line client of a container engine. */
export interface DockerCli {
  readonly env: Env;
  run(args: readonly string[], timeoutMs?: number): Promise<SpawnResult>;
  /** Throws `failed: what docker said`. */
  must(args: readonly string[], failed: string, timeoutMs?: number): Promise<string>;
  state(name: string): Promise<"absent" | "stopped" | "running">;
  /** Makes sure that an image is there; only the default one is fetched. */
  image(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Whether a variable is the client's own, and cannot carry a value to the container by its name. */
export const isClientVariable = (name: string): boolean => CLIENT_VARIABLES.test(name);

export function createDockerCli(gatewayEnv: Env): DockerCli {
  const env = Object.fromEntries(Object.entries(gatewayEnv).filter(([name]) => isClientVariable(name)));
  const call = (args: readonly string[], timeoutMs = SHORT_MS): Promise<SpawnResult> => run("docker", { args, env, timeoutMs, maxOutputBytes: MOST_BYTES });

  async function must(args: readonly string[], failed: string, timeoutMs?: number): Promise<string> {
    let result: SpawnResult;
    try {
      result = await call(args, timeoutMs);
    } catch (error) {
      throw new AppError("UNAVAILABLE", `${failed}: ${messageOf(error)}`, { cause: error });
    }
    if (result.code !== 0) throw new AppError("UNAVAILABLE", `${failed}: ${said(result)}`);
    return result.stdout.trim();
  }

  return {
    env,
    run: call,
    must,
    async state(name) {
      const result = await call(["inspect", "--type", "container", "-f", "{{.State.Running}}", name]);
      if (result.code === 0) return result.stdout.trim() === "true" ? "running" : "stopped";
      if (/no such/i.test(result.stderr)) return "absent";
      throw new AppError("UNAVAILABLE", `Failed to inspect sandbox container: ${said(result)}`);
    },
    async image(name) {
      const result = await call(["image", "inspect", name]).catch((error: unknown) => {
        throw new AppError("UNAVAILABLE", `Failed to inspect sandbox image: ${messageOf(error)}`, { cause: error });
      });
      if (result.code === 0) return;
      if (!/no such image/i.test(result.stderr)) throw new AppError("UNAVAILABLE", `Failed to inspect sandbox image: ${said(result)}`);
      if (name !== DEFAULT_IMAGE) throw new AppError("UNAVAILABLE", `Sandbox image not found: ${name}. Build or pull it first.`);
      await must(["pull", BASE_IMAGE], `could not fetch ${BASE_IMAGE}`, LONG_MS);
      await must(["tag", BASE_IMAGE, DEFAULT_IMAGE], `could not name ${DEFAULT_IMAGE}`);
    },
    async remove(name) {
      const result = await call(["rm", "-f", name]);
      if (result.code !== 0 && !/no such container/i.test(result.stderr)) throw new AppError("UNAVAILABLE", `could not remove ${name}: ${said(result)}`);
    },
  };
}

function said({ code, stderr }: SpawnResult): string {
  return stderr.trim() || `docker exited with code ${code}`;
}

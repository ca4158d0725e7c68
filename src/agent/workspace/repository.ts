import { AppError } from "../../base/errors.ts";
import { run } from "../../base/spawn.ts";
import type { Env } from "../../config/index.ts";

const GIT_TIMEOUT_MS = 10_000;
const GIT_OUTPUT_BYTES = 65_536;

/** Makes a git repository in `folder`, so that the agent's files can be brought back. Without git, or when git refuses, nothing happens. */
export async function initRepository(folder: string, env: Env): Promise<boolean> {
  // Variables like GIT_DIR point at the repository that we were started from.
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("GIT_")));
  try {
    const { code } = await run("git", { args: ["init", "--quiet"], cwd: folder, env: plain, timeoutMs: GIT_TIMEOUT_MS, maxOutputBytes: GIT_OUTPUT_BYTES });
    return code === 0;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

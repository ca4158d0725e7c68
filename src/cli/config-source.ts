import { homedir } from "node:os";
import { loadConfig, type Loaded, type Snapshot } from "../config/index.ts";
import { AppError } from "../base/errors.ts";
import type { Io } from "./io.ts";

/** Reads the configuration as a command sees it. */
export function loadFor(io: Io, path?: string): Loaded {
  return loadConfig({ env: io.env, cwd: io.cwd, osHome: homedir(), version: io.version, ...(path === undefined ? {} : { path }) });
}

/** Stops a command that needs a valid configuration, with every issue in the message. */
export function requireValid(snapshot: Snapshot, format: (issue: Snapshot["issues"][number]) => string): void {
  if (snapshot.valid) return;
  throw new AppError(
    "CONFIG_INVALID",
    `the configuration is not valid:\n${snapshot.issues.map((issue) => `  ${format(issue)}`).join("\n")}\nFix it, then check with: openclaw config validate`,
    {
      details: { path: snapshot.path, issues: snapshot.issues },
    },
  );
}

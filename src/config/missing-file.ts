import { join } from "node:path";
import type { Loaded } from "./load.ts";
import type { LocatedIssue } from "./snapshot.ts";

export function lastGoodFile(state: string): string {
  return join(state, "config.last-good.json");
}

/** What is wrong when the gateway ran with a file that is gone. */
export function missingFile(path: string, state: string): string {
  return `${path} is missing, and the gateway ran with it; put it back (${path}.bak has an earlier text), or remove ${lastGoodFile(state)} to start over`;
}

/** A configuration whose file is gone: broken, with that as its issue. */
export function withoutFile(loaded: Loaded): Loaded {
  return broken(loaded, "missing_file", missingFile(loaded.snapshot.path, loaded.paths.state));
}

/** A configuration that is valid and cannot be run with: broken too, with the reason as its issue. */
export function withoutRefused(loaded: Loaded, refuses: ((snapshot: Loaded["snapshot"]) => string | undefined) | undefined): Loaded {
  const reason = loaded.snapshot.valid ? refuses?.(loaded.snapshot) : undefined;
  return reason === undefined ? loaded : broken(loaded, "refused", reason);
}

function broken(loaded: Loaded, code: string, message: string): Loaded {
  const issue: LocatedIssue = { path: "", file: loaded.snapshot.path, line: 1, column: 1, message, code, severity: "error" };
  return { ...loaded, snapshot: { ...loaded.snapshot, valid: false, config: {}, issues: [issue] } };
}

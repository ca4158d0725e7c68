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
  const { path } = loaded.snapshot;
  const message = missingFile(path, loaded.paths.state);
  const issue: LocatedIssue = { path: "", file: path, line: 1, column: 1, message, code: "missing_file", severity: "error" };
  return { ...loaded, snapshot: { ...loaded.snapshot, valid: false, config: {}, issues: [issue] } };
}

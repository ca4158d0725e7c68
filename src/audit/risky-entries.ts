import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import type { AuditDeps, RiskyEntry } from "./finding.ts";

/** What users wrote into `exec-approvals.json` and `tools.exec.safeBins` that lets any command run unasked. */
export async function riskyEntries({ config, env }: Pick<AuditDeps, "config" | "env">): Promise<readonly RiskyEntry[]> {
  const { createExecRules, riskyAllowlistEntries } = await import("../tools/index.ts");
  const path = join(config.paths.state, "exec-approvals.json");
  const { file } = createExecRules({ path, clock: systemClock, ids: createIds(systemRandom), random: systemRandom }).snapshot();
  const { tools, agents } = config.current;
  const safeBins = [...(tools?.exec?.safeBins ?? []), ...(agents?.list ?? []).flatMap((agent) => agent.tools?.exec?.safeBins ?? [])];
  return riskyAllowlistEntries({ file, safeBins, path: env["PATH"] ?? "", home: homedir() });
}

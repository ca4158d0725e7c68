import { spawnSync } from "node:child_process";

/** How long a bare process takes from its start to its end on a machine that does nothing else; slower ones count as a little busy. */
const BARE_START_MS = 60;

/** How many times as long as usual things take on this machine right now; 1 on a quiet one. */
export function slowness(): number {
  const from = performance.now();
  spawnSync(process.execPath, ["-e", ""], { env: {} });
  return Math.max(1, (performance.now() - from) / BARE_START_MS);
}

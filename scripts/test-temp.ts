import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * One folder for everything that a run of the tests puts aside, and away with it at the end. Workers and what they start take it from the environment.
 * The name is short: paths of sockets below it have to stay under 108 bytes.
 */
export default function testTemp(): () => void {
  const before = process.env["TMPDIR"];
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "oc-"));
  // Some tests run programs as another user.
  chmodSync(folder, 0o1777);
  process.env["TMPDIR"] = folder;
  return () => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    // A process that is just ending may still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
}

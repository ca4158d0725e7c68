import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";

/**
 * Puts a program of the tests and everything that it imports into one file, which anybody may read, and gives its path. Started often, it begins in a
 * fraction of the time that its sources take.
 */
export async function bundled(program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "bundled-"));
  chmodSync(folder, 0o755);
  const file = join(folder, basename(program).replace(/\.ts$/, ".mjs"));
  const bundle = await rolldown({ input: program, platform: "node", logLevel: "silent" });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  return file;
}

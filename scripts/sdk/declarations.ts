/** Emits the SDK's declarations with the compiler, which checks nothing here: that is what the type check does. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Writes `<folder>/plugins/sdk/paths/*.d.ts` and what they lean on. */
export function emitDeclarations(folder: string): void {
  const args = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.sdk.json", "--outDir", folder, "--noCheck"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`the SDK's declarations cannot be made:\n${stdout}${stderr}`);
}

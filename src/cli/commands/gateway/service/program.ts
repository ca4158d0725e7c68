import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../../base/errors.ts";

/** The package this runs from: its sources and its bundle lie at different depths below it. */
function packageRoot(from: string): string {
  for (let folder = dirname(from); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "bin", "openclaw"))) return folder;
  }
  throw new AppError("NOT_FOUND", `bin/openclaw was not found above ${from}; a service can only run an installed openclaw`);
}

/** What a service runs: the package's own runtime, which no update of the system takes away, and its entry. */
export function serviceProgram(): { readonly node: string; readonly entry: string } {
  const root = packageRoot(fileURLToPath(import.meta.url));
  const { pinnedNode } = createRequire(import.meta.url)(join(root, "scripts", "runtime.cjs")) as { pinnedNode(): string | undefined };
  return { node: pinnedNode() ?? process.execPath, entry: join(root, "bin", "openclaw") };
}

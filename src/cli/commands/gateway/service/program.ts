import { createRequire } from "node:module";
import { join } from "node:path";
import { AppError } from "../../../../base/errors.ts";
import { packageFolder } from "../../../../base/program-name.ts";

function packageRoot(from: string): string {
  const root = packageFolder(from);
  if (root !== undefined) return root;
  throw new AppError("NOT_FOUND", `bin/openclaw was not found above ${from}; a service can only run an installed openclaw`);
}

/** What a service runs: the package's own runtime, which no update of the system takes away, and its entry. */
export function serviceProgram(): { readonly node: string; readonly entry: string } {
  const root = packageRoot(import.meta.dirname);
  const { pinnedNode } = createRequire(import.meta.url)(join(root, "scripts", "runtime.cjs")) as { pinnedNode(): string | undefined };
  return { node: pinnedNode() ?? process.execPath, entry: join(root, "bin", "openclaw") };
}

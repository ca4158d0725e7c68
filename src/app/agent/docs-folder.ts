import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The documentation that came with the program; its sources and its bundle lie at different depths below the package. Undefined when it was left out. */
export function docsFolder(from: string = import.meta.dirname): string | undefined {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    if (!existsSync(join(folder, "bin", "openclaw"))) continue;
    return existsSync(join(folder, "docs", "agent", "README.md")) ? join(folder, "docs") : undefined;
  }
  return undefined;
}

/** The same, as the agent is told. */
export function docsPlace(): { readonly docsPath?: string } {
  const docsPath = docsFolder();
  return docsPath === undefined ? {} : { docsPath };
}

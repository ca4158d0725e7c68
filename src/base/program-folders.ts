import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of the `openclaw` command that this program belongs to; its sources and its bundle lie at different depths below the package. */
export function programFolder(from: string = import.meta.dirname): string | undefined {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "bin", "openclaw"))) return join(folder, "bin");
  }
  return undefined;
}

/** The documentation that came with the program. Undefined when it was left out. */
export function docsFolder(from: string = import.meta.dirname): string | undefined {
  const bin = programFolder(from);
  const docs = bin === undefined ? undefined : join(dirname(bin), "docs");
  return docs !== undefined && existsSync(join(docs, "agent", "README.md")) ? docs : undefined;
}

/** The same, as shown to the agent. */
export function docsPlace(): { readonly docsPath?: string } {
  const docsPath = docsFolder();
  return docsPath === undefined ? {} : { docsPath };
}

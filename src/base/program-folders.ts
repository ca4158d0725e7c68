import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

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

/** The Chrome extension that came with the program. Undefined when it was left out. */
export function browserExtensionFolder(from: string = import.meta.dirname): string | undefined {
  const bin = programFolder(from);
  const folder = bin === undefined ? undefined : join(dirname(bin), "browser-extension");
  return folder !== undefined && existsSync(join(folder, "manifest.json")) ? folder : undefined;
}

/** The skills that come with the program, or those that take their place. Undefined when they were left out. */
export function bundledSkillsFolder(env: Readonly<Record<string, string | undefined>>, from: string = import.meta.dirname): string | undefined {
  const named = env["OPENCLAW_BUNDLED_SKILLS_DIR"]?.trim();
  if (named) return resolve(named);
  const bin = programFolder(from);
  const skills = bin === undefined ? undefined : join(dirname(bin), "skills");
  return skills !== undefined && existsSync(skills) ? skills : undefined;
}

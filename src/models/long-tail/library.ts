import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../../base/errors.ts";

/** Wire formats that are not written here and come with the package, when it is there. */
export const LONG_TAIL_APIS: readonly string[] = ["bedrock-converse-stream", "google-vertex", "openai-codex-responses", "azure-openai-responses"];

export const LONG_TAIL_PACKAGE = "@earendil-works/pi-ai";

/** One event of the package's stream; only what is read of it. */
export interface LibraryEvent {
  readonly type: string;
  readonly contentIndex?: number;
  readonly delta?: string;
  readonly partial?: { readonly content?: readonly unknown[] };
  readonly message?: unknown;
  readonly error?: unknown;
}

/** The part of the package that is used. */
export interface Library {
  streamSimple(model: unknown, context: unknown, options: unknown): AsyncIterable<LibraryEvent>;
  /** There since callers may say who they are everywhere. */
  readonly formatUserAgent?: unknown;
}

const isLibrary = (value: unknown): value is Library => typeof (value as { streamSimple?: unknown } | undefined)?.streamSimple === "function";

/** The package's file that has the functions, when the package can be found from a folder as Node finds packages. */
function libraryFile(folder: string): string | undefined {
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(LONG_TAIL_PACKAGE, pathToFileURL(`${folder}/`));
  } catch {
    return undefined; // Not there.
  }
  if (manifest === undefined) return undefined;
  const { exports = {}, main } = JSON.parse(readFileSync(manifest, "utf8")) as { exports?: Record<string, { import?: string }>; main?: string };
  // Newer versions have the functions at a path of their own; before, the package's own entry had them.
  const entry = exports["./compat"]?.import ?? exports["."]?.import ?? main;
  return entry === undefined ? undefined : join(dirname(manifest), entry);
}

/** Loads the package for a wire format of the long tail. `from`: folders to look from. Throws `UNAVAILABLE` that says what to add. */
export async function loadLibrary(api: string, from: readonly string[]): Promise<Library> {
  for (const folder of from) {
    const file = libraryFile(folder);
    const loaded: unknown = file === undefined ? undefined : await import(pathToFileURL(file).href);
    if (isLibrary(loaded)) return loaded;
  }
  throw new AppError(
    "UNAVAILABLE",
    `the wire format ${JSON.stringify(api)} is not part of openclaw, it comes with a package: npm install ${LONG_TAIL_PACKAGE} (looked from ${from.join(", ")})`,
    { details: { api, package: LONG_TAIL_PACKAGE } },
  );
}

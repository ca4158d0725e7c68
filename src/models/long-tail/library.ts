import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../../base/errors.ts";

/** Wire formats that are not implemented here and come with the package, if installed. */
export const LONG_TAIL_APIS: readonly string[] = ["bedrock-converse-stream", "google-vertex", "openai-codex-responses", "azure-openai-responses"];

export const LONG_TAIL_PACKAGE = "@earendil-works/pi-ai";

/** The fields used of one event of the package's stream. */
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
  /** Exists since the user agent can be set for all providers. */
  readonly formatUserAgent?: unknown;
}

const isLibrary = (value: unknown): value is Library => typeof (value as { streamSimple?: unknown } | undefined)?.streamSimple === "function";

/** The package's file with the functions, resolved from a folder like Node does. */
function libraryFile(folder: string): string | undefined {
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(LONG_TAIL_PACKAGE, pathToFileURL(`${folder}/`));
  } catch {
    return undefined; // Not installed.
  }
  if (manifest === undefined) return undefined;
  const { exports = {}, main } = JSON.parse(readFileSync(manifest, "utf8")) as { exports?: Record<string, { import?: string }>; main?: string };
  // Newer versions have the functions at a path of their own; older ones in the package's main entry.
  const entry = exports["./compat"]?.import ?? exports["."]?.import ?? main;
  return entry === undefined ? undefined : join(dirname(manifest), entry);
}

/** Loads the package for a long-tail wire format. `from`: folders to resolve from. Throws `UNAVAILABLE` with the package to install. */
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

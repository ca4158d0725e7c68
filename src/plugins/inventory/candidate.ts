import type { PluginOrigin } from "../record.ts";

/** What a package.json says that matters here. */
export interface PackageInfo {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Its `openclaw` block. */
  readonly block: Readonly<Record<string, unknown>>;
}

/** A place where a plugin seems to be. */
export interface Candidate {
  readonly origin: PluginOrigin;
  /** The folder it may not leave, symbolic links resolved. */
  readonly rootDir: string;
  /** Its entry file, symbolic links resolved. */
  readonly source: string;
  /** What the package, the folder or the file is called. */
  readonly hint: string;
  /** The entry file's name without its ending, when the package has several plugins. */
  readonly part?: string;
  readonly package?: PackageInfo;
}

import { AppError } from "../../base/errors.ts";
import { findStackLocation } from "../../base/stack-location.ts";
import type { PluginEntry } from "../record.ts";

/** Where a plugin's code failed: what the error says of itself, else its stack, else the plugin's entry. */
export function locateFailure(
  error: unknown,
  entry: Pick<PluginEntry, "rootDir" | "source"> | undefined,
): { readonly source?: string; readonly line?: number } {
  const { file, line } = (error instanceof AppError ? error.details : {}) as { readonly file?: unknown; readonly line?: unknown };
  if (typeof file === "string") return { source: file, ...(typeof line === "number" ? { line } : {}) };
  const found = findStackLocation(error, entry?.rootDir);
  const own = found && (entry === undefined || found.file.startsWith(`${entry.rootDir}/`)) ? found : undefined;
  return own ? { source: own.file, line: own.line } : entry ? { source: entry.source } : {};
}

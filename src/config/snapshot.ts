import type { MigrationReport } from "./migrate/index.ts";
import type { OpenClawConfig } from "./schema/index.ts";

/** Something wrong or doubtful in a configuration, with its place. */
export interface LocatedIssue {
  /** Dotted, with indices: `agents.list.0.id`; the root is empty. */
  readonly path: string;
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  /** Counts from 1. */
  readonly column: number;
  readonly message: string;
  readonly expected?: string;
  readonly found?: string;
  readonly suggestion?: string;
  readonly code: string;
  readonly severity: "error" | "warning";
}

/** A configuration as it was read at one moment. */
export interface Snapshot {
  readonly path: string;
  readonly exists: boolean;
  /** The file's text; null when it could not be read as text. */
  readonly raw: string | null;
  /** Hexadecimal SHA-256 of the file; empty when there is none. Computed when asked for. */
  readonly hash: string;
  /** The main file's value, before anything was put in. Undefined when it does not parse. */
  readonly parsed: unknown;
  /** With includes and variables put in, before migration. */
  readonly resolved: unknown;
  /** Migrated, with defaults: what the gateway runs with. Empty when `valid` is false. Made when first asked for. */
  readonly config: OpenClawConfig;
  readonly valid: boolean;
  /** Errors. */
  readonly issues: readonly LocatedIssue[];
  readonly warnings: readonly LocatedIssue[];
  /** What was found in an old place. */
  readonly legacy: MigrationReport;
  /** Every file that was read: the main one, includes, `.env` files that exist. */
  readonly files: readonly string[];
  /** `last-good` when the file was broken and an earlier configuration stands in for it. */
  readonly source: "file" | "last-good";
  /** Why the file itself is not used. */
  readonly reason?: string;
}

/** `openclaw.json:12:5: agents.list.0.id: expected a text`, for people. */
export function formatLocated(issue: LocatedIssue): string {
  return `${issue.file}:${issue.line}:${issue.column}: ${issue.path === "" ? "<root>" : issue.path}: ${issue.message}`;
}

import { nearest } from "../../base/text.ts";

/** Keys and indices from the root of the document. */
export type Path = readonly (string | number)[];

export type IssueCode =
  | "unknown-key"
  | "type"
  | "enum"
  | "bounds"
  | "pattern"
  | "format"
  | "required"
  /** Two places of the file do not fit together. */
  | "rule"
  | "unknown-channel"
  | "unknown-plugin"
  /** A name in a list that stands for nothing. */
  | "unknown-name"
  /** A setting of a feature that this version does not have. */
  | "unavailable"
  /** There is more, but nobody reads that many at once. */
  | "more"
  /** Nested too deeply, or too large to check in reasonable time. */
  | "depth"
  /** The schema itself cannot be used: a plugin's fault, not the user's. */
  | "schema";

/** Something wrong, or doubtful, in a configuration. */
export interface Issue {
  /** The offending value; for an unknown key the key itself; for a missing key the object that lacks it. */
  readonly path: Path;
  /** What is wrong and, where it is known, what to write instead. Has no path in it and never a secret. */
  readonly message: string;
  readonly expected?: string;
  readonly found?: string;
  /** The key that is missing from the object at `path`. */
  readonly missing?: string;
  /** The key or value that was probably meant. */
  readonly suggestion?: string;
  readonly code: IssueCode;
  /** A configuration with only warnings is used. */
  readonly severity: "error" | "warning";
}

/** `["agents", "list", 0, "a b"]` → `agents.list[0]["a b"]`; the root is `<root>`. */
export function formatPath(path: Path): string {
  if (path.length === 0) return "<root>";
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[\w$-]+$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
  }
  return text;
}

/** One line for a person: `agents.list[0].id: expected a text, found a number`. */
export function formatIssue(issue: Issue): string {
  return `${formatPath(issue.path)}: ${issue.message}`;
}

/** A broken agreement between keys. */
export function ruleIssue(path: Path, message: string, severity: Issue["severity"] = "error"): Issue {
  return { path, message, code: "rule", severity };
}

/** Finishes a sentence with the closest of `known`, when one is close. */
export function withSuggestion(message: string, word: string, known: Iterable<string>): { message: string; suggestion?: string } {
  const suggestion = nearest(word, known);
  return suggestion === undefined ? { message } : { message: `${message}; did you mean ${JSON.stringify(suggestion)}?`, suggestion };
}

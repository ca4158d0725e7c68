import type { Check } from "./model/draft.ts";
import type { LineMark } from "../../parts/json-editor.ts";

/** Something that the gateway says of the text. */
export type Issue = Check["issues"][number] & { readonly bad: boolean };

/** Errors first. */
export const issuesOf = (check: Check | undefined): Issue[] =>
  check ? [...check.issues.map((one) => ({ ...one, bad: true })), ...check.warnings.map((one) => ({ ...one, bad: false }))] : [];

export const marksOf = (issues: readonly Issue[]): LineMark[] =>
  issues.flatMap(({ line, message, bad }) => (line === undefined ? [] : [{ line, message, bad }]));

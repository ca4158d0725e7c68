import type { Issue } from "./issue.ts";
import type { JsonSchema, JsonSchemaNode } from "../json-schema.ts";

export type Finding = Omit<Issue, "path" | "severity">;

/** The walk as the checks of single keywords see it: where it is, and how to go on. */
export interface Walk {
  /** Checks `value` at the current place. */
  visit(schema: JsonSchemaNode, value: unknown): void;
  /** Goes down to a key or index and checks the value there. */
  descend(key: string | number, schema: JsonSchemaNode, value: unknown): void;
  /** What `visit` would report, without reporting it. */
  attempt(schema: JsonSchemaNode, value: unknown): readonly Issue[];
  /** Reports at the current place, or below it. */
  report(finding: Finding, ...below: (string | number)[]): void;
  /** Follows references. Reports and gives undefined when one leads nowhere. */
  resolve(schema: JsonSchemaNode): JsonSchemaNode | undefined;
  /** The compiled pattern. Reports and gives undefined when it is no regular expression. */
  pattern(source: string): RegExp | undefined;
  /** True when the value at the current place must not be shown. */
  hidden(schema: JsonSchema): boolean;
  /** Enough was reported: nobody reads more. */
  readonly isFull: boolean;
  /** Length of the current path. */
  readonly depth: number;
}

import { nearest } from "../../base/text.ts";
import type { Walk } from "./context.ts";
import type { Issue } from "./issue.ts";
import { isObject } from "../value.ts";
import type { JsonSchema, JsonSchemaNode } from "../json-schema.ts";
import { describeExpected, describeFound, wantsScalar } from "./words.ts";

interface Branch {
  readonly schema: JsonSchemaNode;
  readonly issues: readonly Issue[];
}

/** A branch is out of the question when the value is of another kind altogether. */
function fitsKind(walk: Walk, branch: Branch): boolean {
  return !branch.issues.some((issue) => issue.path.length === walk.depth && (issue.code === "type" || issue.code === "enum"));
}

/** Keys such as `source` or `type` say which branch was meant: one that disagrees with them is worse than one with any other fault. */
function cost(walk: Walk, branch: Branch): number {
  let sum = 0;
  for (const issue of branch.issues) {
    const isDiscriminator = issue.path.length === walk.depth + 1 && issue.code === "enum";
    sum += isDiscriminator ? 100 : issue.code === "required" ? 2 : 3;
  }
  return sum;
}

function literals(schema: JsonSchemaNode): string[] {
  if (typeof schema === "boolean") return [];
  const listed = Object.hasOwn(schema, "const") ? [schema.const] : (schema.enum ?? schema.anyOf?.flatMap(literals) ?? []);
  return listed.filter((one) => typeof one === "string");
}

function reportNone(walk: Walk, schema: JsonSchema, branches: readonly JsonSchemaNode[], value: unknown): void {
  const isHidden = walk.hidden(schema);
  const union = { anyOf: branches };
  const expected = describeExpected(union);
  const found = describeFound(value, isHidden || !wantsScalar(union));
  const suggestion = typeof value === "string" && !isHidden ? nearest(value, branches.flatMap(literals)) : undefined;
  const more = suggestion === undefined ? "" : `; did you mean ${JSON.stringify(suggestion)}?`;
  walk.report({ code: "type", expected, found, message: `expected ${expected}, found ${found}${more}`, ...(suggestion === undefined ? {} : { suggestion }) });
}

/** `anyOf` and `oneOf`: silent when a branch fits; otherwise the faults of the branch that was most likely meant. */
export function checkUnion(walk: Walk, schema: JsonSchema, branches: readonly JsonSchemaNode[], value: unknown, isExclusive: boolean): void {
  const failed: Branch[] = [];
  let fitting = 0;
  for (const branch of branches) {
    const resolved = walk.resolve(branch) ?? true;
    const issues = walk.attempt(resolved, value);
    if (issues.length > 0) failed.push({ schema: resolved, issues });
    else if (!isExclusive) return;
    else fitting += 1;
  }
  if (fitting === 1) return;
  if (fitting > 1) return walk.report({ code: "rule", message: `fits ${fitting} of the allowed forms at once; only one may fit` });
  const candidates = failed.filter((branch) => fitsKind(walk, branch));
  const isContainer = isObject(value) || Array.isArray(value);
  if (candidates.length === 0 || (!isContainer && candidates.length > 1)) {
    return reportNone(
      walk,
      schema,
      failed.map((branch) => branch.schema),
      value,
    );
  }
  const best = candidates.reduce((a, b) => (cost(walk, b) < cost(walk, a) ? b : a));
  for (const { path, severity: _severity, ...finding } of best.issues) walk.report(finding, ...path.slice(walk.depth));
}

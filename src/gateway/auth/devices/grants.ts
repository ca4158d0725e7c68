import { covers, type Role, type Scope } from "../../../protocol/index.ts";

/** True when every asked scope is covered: `operator.admin` covers all, `operator.write` covers `operator.read`. */
export function coversAll(approved: readonly string[], asked: readonly string[]): boolean {
  return asked.every((scope) => covers(approved, scope as Scope));
}

/** The first asked scope that is not covered. */
export function firstUncovered(approved: Iterable<string>, asked: readonly string[]): string | undefined {
  const held = [...approved];
  return asked.find((scope) => !covers(held, scope as Scope));
}

export function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

/** Scopes are an operator's: a node has none, so that what it asks for cannot become an operator's later. */
export function scopesFor(role: Role, asked: readonly string[]): string[] {
  return role === "operator" ? union(asked) : [];
}

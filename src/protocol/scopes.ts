/** What an operator connection may do. `operator.admin` covers all, `operator.write` covers `operator.read`. */
export const SCOPES = ["operator.read", "operator.write", "operator.admin", "operator.pairing", "operator.approvals", "operator.talk.secrets"] as const;
export type Scope = (typeof SCOPES)[number];

export type Role = "operator" | "node";

/** What a method asks of its caller: a scope of an operator, or the role node. */
export type Access = Scope | "node";

/** True when the granted scopes let a caller use what needs `needed`. */
export function covers(granted: Iterable<string>, needed: Scope): boolean {
  for (const scope of granted) {
    if (scope === needed || scope === "operator.admin") return true;
    if (scope === "operator.write" && needed === "operator.read") return true;
  }
  return false;
}

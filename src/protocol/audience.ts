import { isRecord } from "../base/records.ts";
import { covers, type Role, type Scope } from "./scopes.ts";

/**
 * Who an event is for. `all`: every client that said hello. `readers`: operators with `operator.read`, and nodes. A scope: operators that have
 * it. `socket` and `node` are not broadcast: they are sent to one new connection, or to one node.
 */
export type Audience = "all" | "readers" | "socket" | "node" | Scope;

/** When a slow reader may miss the event: `delta` means only with `state: "delta"`, which the next one replaces. */
export type Droppable = "always" | "never" | "delta";

/** What is known about an event besides its payload. */
export interface EventFacts {
  readonly audience: Audience;
  readonly droppable: Droppable;
  /** One sentence for the generated documentation. */
  readonly summary: string;
}

/** True when a client with this role and these granted scopes is among those that a broadcast is for. */
export function isFor(audience: Audience, client: { readonly role: Role; readonly scopes: Iterable<string> }): boolean {
  if (audience === "all") return true;
  if (audience === "socket" || audience === "node") return false;
  if (client.role === "node") return audience === "readers";
  return covers(client.scopes, audience === "readers" ? "operator.read" : audience);
}

/** True when a slow reader may miss this one. */
export function isDroppable(facts: EventFacts, payload: unknown): boolean {
  if (facts.droppable !== "delta") return facts.droppable === "always";
  return isRecord(payload) && payload["state"] === "delta";
}

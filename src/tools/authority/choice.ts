/**
 * What was chosen for one session about commands: `/exec`, `/elevated` and `sessions.patch` write it, each turn reads it. A value that is looser than the
 * configuration holds only with a grant, which says who allowed that very value.
 */
import type { SessionEntry } from "../../protocol/index.ts";
import { isRecord } from "../../base/records.ts";

export const CHOICE_FIELDS = ["execHost", "execSecurity", "execAsk", "execNode", "elevatedLevel"] as const;
export type ChoiceField = (typeof CHOICE_FIELDS)[number];

/** The field of the entry that holds the grants. */
export const GRANTS = "execGranted";

/** An owner who wrote in a chat, or a client with `operator.admin`. */
export type Grantor =
  | { readonly by: "client" }
  | { readonly by: "sender"; readonly channel: string; readonly accountId: string; readonly senders: readonly string[] };

export type ExecGrant = Grantor & {
  readonly value: string;
  /** Whose turns it holds for: everybody's in the session, or owners' only. Commands in a chat give the latter: others may write in the same session. */
  readonly holds: "session" | "owner";
};

/** Values as they stand in the entry; nobody has judged them yet. */
export interface SessionChoice {
  readonly execHost?: string;
  readonly execSecurity?: string;
  readonly execAsk?: string;
  readonly execNode?: string;
  readonly elevatedLevel?: string;
  readonly granted?: Readonly<Partial<Record<ChoiceField, ExecGrant>>>;
}

/** A grant as it was written; anything else is none. */
function grantOf(value: unknown): ExecGrant | undefined {
  if (!isRecord(value) || typeof value["value"] !== "string" || (value["holds"] !== "session" && value["holds"] !== "owner")) return undefined;
  const { value: granted, holds } = value;
  if (value["by"] === "client") return { by: "client", value: granted, holds };
  const { channel, accountId, senders } = value;
  if (value["by"] !== "sender" || typeof channel !== "string" || typeof accountId !== "string" || !Array.isArray(senders)) return undefined;
  return { by: "sender", channel, accountId, senders: senders.filter((id): id is string => typeof id === "string"), value: granted, holds };
}

/** Reads a session's choice. Undefined when nothing was chosen. */
export function sessionChoice(entry: SessionEntry | undefined): SessionChoice | undefined {
  const found: Partial<Record<ChoiceField, string>> = {};
  for (const field of CHOICE_FIELDS) {
    const value = entry?.[field];
    if (typeof value === "string" && value.trim() !== "") found[field] = value.trim();
  }
  if (Object.keys(found).length === 0) return undefined;
  const written = isRecord(entry?.[GRANTS]) ? entry[GRANTS] : {};
  const granted: Partial<Record<ChoiceField, ExecGrant>> = {};
  for (const field of CHOICE_FIELDS) {
    const grant = Object.hasOwn(written, field) ? grantOf(written[field]) : undefined;
    // A grant is for one value: what was written over it since has none.
    if (grant && grant.value === found[field]) granted[field] = grant;
  }
  return { ...found, ...(Object.keys(granted).length === 0 ? {} : { granted }) };
}

import type { TextMatcher } from "../../base/erase-text.ts";
import { isRecord } from "../../base/records.ts";
import type { SessionRow, Store } from "../../store/index.ts";

const PAGE = 500;
/** Fields of a conversation that people name it by. */
const NAMES = ["label", "displayName", "subject"] as const;

/** Null removes a field: a label must be the only one of its kind, so that nothing can stand in its place. */
function withoutNames({ entry }: SessionRow, matches: TextMatcher): Readonly<Record<string, unknown>> | undefined {
  const isGone = (value: unknown): boolean => typeof value === "string" && matches(value);
  const patch: Record<string, unknown> = {};
  for (const name of NAMES) if (isGone(entry[name])) patch[name] = null;
  const origin = entry["origin"];
  if (isRecord(origin) && isGone(origin["label"])) {
    const { label: _label, ...rest } = origin;
    patch["origin"] = rest;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

interface ChangedName {
  readonly key: string;
  readonly patch: Readonly<Record<string, unknown>>;
}

/** Conversations of an agent whose names contain a text, with the change that takes these names away. */
export async function matchingNames(store: Pick<Store, "read">, agentId: string, matches: TextMatcher): Promise<readonly ChangedName[]> {
  const found: ChangedName[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { rows } = await store.read("sessions.list", { agentId, order: "key", limit: PAGE, offset });
    for (const row of rows) {
      const patch = withoutNames(row, matches);
      if (patch) found.push({ key: row.key, patch });
    }
    if (rows.length < PAGE) return found;
  }
}

export async function eraseNames(store: Pick<Store, "read" | "commit">, agentId: string, matches: TextMatcher): Promise<void> {
  const changes = await matchingNames(store, agentId, matches);
  if (changes.length > 0) await store.commit(changes.map((change) => ["sessions.merge", change] as const));
}

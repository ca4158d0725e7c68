import type { TextMatcher } from "../../base/erase-text.ts";
import { isRecord } from "../../base/records.ts";
import type { SessionRow, Store } from "../../store/index.ts";

const PAGE = 500;
/** Fields that name a conversation. A model derives the title from the messages. */
const NAMES = ["label", "displayName", "subject", "title"] as const;

/** Sets matching fields to null, which removes them: labels are unique, so there is no placeholder to use instead. */
function withoutNames({ entry }: SessionRow, matches: TextMatcher): Readonly<Record<string, unknown>> | undefined {
  const isErased = (value: unknown): boolean => typeof value === "string" && matches(value);
  const patch: Record<string, unknown> = {};
  for (const name of NAMES) if (isErased(entry[name])) patch[name] = null;
  const origin = entry["origin"];
  if (isRecord(origin) && isErased(origin["label"])) {
    const { label: _label, ...rest } = origin;
    patch["origin"] = rest;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

interface ChangedName {
  readonly key: string;
  readonly patch: Readonly<Record<string, unknown>>;
}

/** Conversations of an agent whose names contain a text, with the change that removes those names. */
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

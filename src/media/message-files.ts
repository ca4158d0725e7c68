import { join } from "node:path";
import { loadExpiry } from "../media/index.ts";
import type { Store } from "../store/index.ts";
import type { MaintenanceDeps } from "./maintenance.ts";

const DEFAULT_DAYS = 7;
const DAY_MS = 86_400_000;
/** Per pass; what is left is done in the next one. */
const MOST_FILES = 1000;
/** Where more rows than this have no end, nothing is removed: not all of them were looked at. */
const MOST_ROWS = 100_000;
/** Longer texts are no places of files. */
const MAX_PLACE = 8192;

/** Texts anywhere in a row's payload that could name a file. */
function* placesIn(value: unknown): Generator<string> {
  if (typeof value === "string") {
    if (value.length <= MAX_PLACE) yield value;
  } else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* placesIn(inner);
  }
}

/** Payloads of messages that have no end and of answers that are still to be sent. Undefined: there are too many to look at. */
async function openPayloads(store: Pick<Store, "read">): Promise<readonly unknown[] | undefined> {
  const states = ["pending", "attempting", "unknown"] as const;
  const lists = await Promise.all([
    store.read("inbox.open", { limit: MOST_ROWS }),
    ...states.map((state) => store.read("outbox.recent", { state, limit: MOST_ROWS })),
  ]);
  return lists.some(({ length }) => length >= MOST_ROWS) ? undefined : lists.flatMap((rows) => rows.map(({ payload }) => payload));
}

/** Those of the names that an open row has somewhere. Names of stored files are unique, so that a name is enough. */
async function neededNames(store: Pick<Store, "read">, names: readonly string[]): Promise<ReadonlySet<string>> {
  const payloads = await openPayloads(store);
  if (!payloads) return new Set(names);
  const text = [...placesIn(payloads)].filter((place) => /[/\\]/.test(place)).join("\n");
  // A place may be written as an address.
  return new Set(names.filter((name) => text.includes(name) || text.includes(encodeURIComponent(name))));
}

/** Removes files of messages that are past their time and that nothing without an end refers to. */
export async function expireMedia({ store, clock, config, stateDir }: Pick<MaintenanceDeps, "store" | "clock" | "config" | "stateDir">) {
  const days = config().store?.retention?.mediaDays ?? DEFAULT_DAYS;
  const { removeExpired } = await loadExpiry();
  return removeExpired({
    folder: join(stateDir, "media"),
    before: clock.now() - days * DAY_MS,
    needed: (names) => neededNames(store, names),
    limit: MOST_FILES,
  });
}

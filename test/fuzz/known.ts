/** Values that were true in this run: keys, ids and hashes that reach further into a handler than invented ones. */
export interface Known {
  /** Values for a parameter of this name; never empty when the name is known. */
  of(name: string): readonly string[];
  /** Takes over what an answer tells. */
  learn(payload: unknown): void;
}

const KEPT = 16;
/** Where an answer's names differ from those of parameters. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  hash: ["baseHash"],
  key: ["key", "keys", "sessionKey"],
  sessionId: ["sessionId"],
  runId: ["runId"],
};
const MAX_DEPTH = 4;
const MAX_ITEMS = 5;

/** Names are fixed from the start, so that the same seed makes the same choices whatever was learned. */
export function createKnown(start: Readonly<Record<string, readonly string[]>>): Known {
  const lists = new Map(Object.entries(start).map(([name, values]) => [name, [...values]]));

  function note(name: string, value: string): void {
    for (const also of Object.hasOwn(ALSO, name) ? ALSO[name]! : [name]) {
      const list = lists.get(also);
      if (!list || value === "" || value.length > 200 || list.includes(value)) continue;
      list.push(value);
      if (list.length > KEPT) list.splice(start[also]!.length > 3 ? 3 : start[also]!.length, 1);
    }
  }

  function walk(value: unknown, depth: number): void {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).forEach((item) => walk(item, depth + 1));
    for (const [name, item] of Object.entries(value)) {
      if (typeof item === "string") note(name, item);
      else walk(item, depth + 1);
    }
  }

  return { of: (name) => lists.get(name) ?? [], learn: (payload) => walk(payload, 0) };
}

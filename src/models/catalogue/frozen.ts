import type { ModelCost, WireCompat } from "../entry.ts";
import type { KnownModel } from "../providers/index.ts";

/** Id, name (empty: the id), reasoning, vision, window, output, prices, own wire format, differences. */
type Row = readonly [string, string, number, number, number, number, readonly [number, number, number, number], string?, WireCompat?];

/** The tables of the build, by provider. Rows become models when their provider is first used. */
export interface FrozenTables {
  of(provider: string): readonly KnownModel[];
}

const costOf = ([input, output, cacheRead, cacheWrite]: Row[6]): ModelCost => ({ input, output, cacheRead, cacheWrite });

function modelOf([id, name, reasons, sees, contextWindow, maxTokens, prices, api, compat]: Row): KnownModel {
  return {
    id,
    name: name === "" ? id : name,
    reasoning: reasons === 1,
    input: sees === 1 ? ["text", "image"] : ["text"],
    contextWindow,
    maxTokens,
    cost: costOf(prices),
    ...(api ? { api } : {}),
    ...(compat ? { compat } : {}),
  };
}

export function createTables(rows: Readonly<Record<string, readonly Row[]>>): FrozenTables {
  const made = new Map<string, readonly KnownModel[]>();
  return {
    of(provider) {
      let models = made.get(provider);
      if (!models) made.set(provider, (models = ((Object.hasOwn(rows, provider) ? rows[provider] : undefined) ?? []).map(modelOf)));
      return models;
    },
  };
}

/** Loads the chunk with the tables. */
export async function loadTables(): Promise<FrozenTables> {
  const { default: rows } = await import("./data/models.json", { with: { type: "json" } });
  return createTables(rows as unknown as Readonly<Record<string, readonly Row[]>>);
}

import type { NoInput } from "./input.ts";

export interface ImportRow {
  readonly source: string;
  readonly size: number;
  readonly mtime: number;
  readonly state: string;
  readonly detail: unknown;
  readonly at: number;
}

export interface MetaWrites {
  /** A small fact about this installation; null removes it. Names starting with `store.` belong to the store. */
  "meta.set": { input: { readonly key: string; readonly value: unknown }; result: void };
  /** Sets it unless it is there already. The result is what stands there now: of several at the same moment, the same for all. */
  "meta.add": { input: { readonly key: string; readonly value: unknown }; result: unknown };
}

export interface MetaReads {
  "meta.get": { input: { readonly key: string }; result: unknown };
  /** Imported files and the result of each import. */
  "imports.list": { input: NoInput; result: readonly ImportRow[] };
}

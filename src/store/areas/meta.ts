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
  /** A small fact about this installation; null takes it away. Names starting with `store.` are the store's own. */
  "meta.set": { input: { readonly key: string; readonly value: unknown }; result: void };
}

export interface MetaReads {
  "meta.get": { input: { readonly key: string }; result: unknown };
  /** What was taken over from files, and how that went. */
  "imports.list": { input: NoInput; result: readonly ImportRow[] };
}

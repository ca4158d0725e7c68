import type * as StoreModule from "../src/store/index.ts";

/** One line of the table: what was measured, against which bar. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: "×" | "ms" | "ns" | "MB" | "KB" | "/s" | "tokens";
  /** The bar, in the same unit. */
  readonly bar: number;
  readonly better: "lower" | "higher";
  /** The figures behind the value, and the calibration they are compared with. */
  readonly facts: Readonly<Record<string, number | string>>;
  /** The values that the worst one was taken of: not printed in the table. */
  readonly all?: Readonly<Record<string, number>>;
}

export interface BenchContext {
  /** Project root. */
  readonly root: string;
  /** The pinned runtime, which runs this too. */
  readonly node: string;
  /** An empty folder, removed afterwards. */
  readonly folder: string;
  /** The build that is measured, without failpoints and with the store as an entry. */
  readonly built: string;
  /** Smaller sizes and fewer rounds: shows that everything runs, not how fast. */
  readonly quick: boolean;
  readonly say: (text: string) => void;
  /** The store of that build, which is made when it is first asked for. */
  readonly loadStore: () => Promise<typeof StoreModule>;
}

export interface Measure {
  readonly name: string;
  run(context: BenchContext): Promise<readonly Row[]>;
}

export function isMet(row: Row): boolean {
  return row.better === "lower" ? row.value <= row.bar : row.value >= row.bar;
}

/**
 * For a database file that cannot be opened or read: sets it aside with the reason, and saves what can still be read into a new one. Entry point of
 * this part of the store.
 */
export { salvage } from "./salvage.ts";
export { finishSalvage } from "./swap.ts";
export type { SalvageReport } from "./types.ts";

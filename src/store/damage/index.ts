/** A database file that cannot be opened or read: set aside with its reason, and what can still be read saved into a new one. The door of this part of the store. */
export { salvage } from "./salvage.ts";
export { finishSalvage } from "./place.ts";
export type { SalvageReport } from "./types.ts";

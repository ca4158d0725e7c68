export { loadLongTail, type LongTailDeps } from "./driver.ts";
export { LONG_TAIL_APIS } from "./library.ts";

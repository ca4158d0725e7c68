export { createDedupeCache } from "../dedupe.ts";
export { createPersistentDedupeCache } from "../newer/small.ts";

export { createDedupeCache } from "../values/dedupe.ts";
export { createPersistentDedupeCache } from "../values/small.ts";

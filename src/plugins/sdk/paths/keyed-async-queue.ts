export { KeyedAsyncQueue } from "../identifiers.ts";

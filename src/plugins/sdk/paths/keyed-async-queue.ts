export { KeyedAsyncQueue } from "../values/identifiers.ts";

export { pruneMapToMaxSize } from "../values/small.ts";

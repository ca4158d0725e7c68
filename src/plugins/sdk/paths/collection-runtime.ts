export { pruneMapToMaxSize } from "../newer/small.ts";

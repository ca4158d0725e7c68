export { expectDefined } from "../newer/small.ts";

export { expectDefined } from "../values/small.ts";

export { createRuntimeConfigReader } from "../newer/small.ts";

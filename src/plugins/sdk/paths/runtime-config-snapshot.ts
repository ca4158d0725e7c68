export { createRuntimeConfigReader } from "../values/small.ts";

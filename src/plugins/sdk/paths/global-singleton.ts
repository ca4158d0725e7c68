export { resolveGlobalSingleton } from "../values/small.ts";

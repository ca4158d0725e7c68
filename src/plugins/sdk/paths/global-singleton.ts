export { resolveGlobalSingleton } from "../newer/small.ts";

/** JSON5 texts with positions. */
export { parseDocument } from "./document.ts";

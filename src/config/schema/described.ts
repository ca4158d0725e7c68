/**
 * The schema with its descriptions, for forms and editors. The same object as the one that validates when run from source; the bundle keeps the
 * two apart, since half of the text is descriptions that validation never reads.
 */
export { configSchema as describedSchema } from "./index.ts";

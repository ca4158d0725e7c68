export { decodeHtmlEntities } from "../newer/small.ts";

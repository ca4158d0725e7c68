export { decodeHtmlEntities } from "../values/small.ts";

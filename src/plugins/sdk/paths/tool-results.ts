export { jsonResult } from "../params.ts";

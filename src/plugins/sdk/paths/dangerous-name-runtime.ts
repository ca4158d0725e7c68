export { isDangerousNameMatchingEnabled } from "../values/small.ts";

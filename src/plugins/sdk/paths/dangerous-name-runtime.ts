export { isDangerousNameMatchingEnabled } from "../newer/small.ts";

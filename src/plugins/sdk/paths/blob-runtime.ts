export { bufferToBlobPart } from "../newer/small.ts";

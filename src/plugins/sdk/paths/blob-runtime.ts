export { bufferToBlobPart } from "../values/small.ts";

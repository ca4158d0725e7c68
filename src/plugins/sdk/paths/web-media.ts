export { loadWebMedia } from "../web-media.ts";
export type { WebMediaOptions, WebMediaResult } from "../types/index.ts";

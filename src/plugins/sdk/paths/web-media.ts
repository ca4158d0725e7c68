export { loadWebMedia } from "../media/web-media.ts";
export type { WebMediaOptions, WebMediaResult } from "../types/index.ts";

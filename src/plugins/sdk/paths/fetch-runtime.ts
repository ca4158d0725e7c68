export { makeProxyFetch, responseWithRelease } from "../newer/media.ts";

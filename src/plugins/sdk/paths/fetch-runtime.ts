export { makeProxyFetch, responseWithRelease } from "../media/outbound-media.ts";

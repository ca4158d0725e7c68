export { createHostedOutboundMediaStore, loadOutboundMediaFromUrl } from "../newer/media.ts";

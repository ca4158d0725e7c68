export { createHostedOutboundMediaStore, loadOutboundMediaFromUrl } from "../media/outbound-media.ts";

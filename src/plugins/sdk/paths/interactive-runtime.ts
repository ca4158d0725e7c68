export { adaptMessagePresentationForChannel, normalizeMessagePresentation, resolveMessagePresentationButtonAction } from "../messages/outbound-parts.ts";

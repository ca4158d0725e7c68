export { adaptMessagePresentationForChannel, normalizeMessagePresentation, resolveMessagePresentationButtonAction } from "../newer/outbound-parts.ts";

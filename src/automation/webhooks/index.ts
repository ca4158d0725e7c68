/** Webhooks: what is loaded with the first request. */
export { createTransforms } from "./transform.ts";
export { createWebhooks } from "./webhooks.ts";

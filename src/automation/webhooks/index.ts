/** Webhooks: what is loaded with the first request. */
export {
  createGmailWatcher,
  GMAIL_DEFAULTS,
  gmailSettings,
  programEnvironment,
  runProgram,
  tailscaleArgs,
  watchGmail,
  watchStartArgs,
  type GmailInput,
  type GmailSettings,
} from "./gmail.ts";
export { createTransforms } from "./transform.ts";
export { createWebhooks } from "./webhooks.ts";

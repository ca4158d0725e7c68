import type { OutgoingHttpHeaders } from "node:http";

/** Names and addresses as they may stand in a policy. An IPv6 address may not; `'self'` has to do there. */
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;

/**
 * What the page may do: load its own files and talk to its own gateway. Some browsers do not count a WebSocket to the page's own host as `'self'`, so that
 * it is named. Trusted types allow three policies: lit's for its templates, one for the thread that draws diagrams,
 * and one for the worker that opens the page while the gateway is away.
 */
export function pagePolicy(host: string | undefined): string {
  const named = host !== undefined && HOST.test(host);
  const sockets = named ? ` ws://${host} wss://${host}` : "";
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${sockets}`,
    // The canvas, and nothing else: a document there cannot take its frame elsewhere.
    named ? `frame-src http://${host}/__openclaw__/cap/ https://${host}/__openclaw__/cap/` : "frame-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types lit-html openclaw-worker openclaw-offline",
  ].join("; ");
}

/** A picture that is opened by itself is a document: this one may do nothing. */
const ALONE = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

const FORBIDDEN = ["camera", "display-capture", "geolocation", "hid", "midi", "payment", "serial", "usb"];
/** The page listens in talk mode, once the user lets it. */
const PERMISSIONS = [...FORBIDDEN.map((name) => `${name}=()`), "microphone=(self)"].join(", ");

/** On everything that is served for the page. */
const EVERY: OutgoingHttpHeaders = { "cross-origin-resource-policy": "same-origin", "x-frame-options": "DENY" };

export const pageHeaders = (host: string | undefined): OutgoingHttpHeaders => ({
  ...EVERY,
  "content-security-policy": pagePolicy(host),
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": PERMISSIONS,
});

/** Scripts that become workers live under the policy they came with. No host is in it: these answers are kept by caches. */
export const fileHeaders = (type: string): OutgoingHttpHeaders => ({
  ...EVERY,
  "content-security-policy": type.startsWith("text/javascript") ? pagePolicy(undefined) : ALONE,
});

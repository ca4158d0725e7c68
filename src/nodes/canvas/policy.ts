import type { OutgoingHttpHeaders } from "node:http";

/** Names and addresses as they may stand in a policy. An IPv6 address may not; `'self'` has to do there. */
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;

/**
 * What a page on the canvas may do: run its own scripts and load files of the canvas. It has no origin, so neither cookies nor storage; it cannot leave its
 * frame, open windows, send forms, or reach another host or another path of the gateway.
 */
function canvasPolicy(host: string | undefined, prefix: string): string {
  const named = host !== undefined && HOST.test(host);
  const at = `${host}${prefix}/__openclaw__/`;
  const files = named ? `http://${at} https://${at}` : "'self'";
  const sockets = named ? `ws://${at}ws wss://${at}ws` : "'self'";
  return [
    "sandbox allow-scripts allow-forms",
    "default-src 'none'",
    `script-src 'unsafe-inline' 'unsafe-eval' blob: ${files}`,
    `style-src 'unsafe-inline' ${files}`,
    `img-src data: blob: ${files}`,
    `media-src data: blob: ${files}`,
    `font-src data: ${files}`,
    `connect-src data: blob: ${files} ${sockets}`,
    "worker-src blob:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
}

const PERMISSIONS = ["camera", "display-capture", "geolocation", "hid", "microphone", "midi", "payment", "serial", "usb"]
  .map((name) => `${name}=()`)
  .join(", ");

/**
 * On every answer of the canvas. A page without an origin needs CORS for modules, fonts and `fetch` of its own files: where the address holds a capability,
 * anyone who knows it may read anyway.
 */
export const canvasHeaders = (host: string | undefined, prefix: string): OutgoingHttpHeaders => ({
  "content-security-policy": canvasPolicy(host, prefix),
  "permissions-policy": PERMISSIONS,
  "cross-origin-resource-policy": prefix === "" ? "same-origin" : "cross-origin",
  "cache-control": "no-store",
  ...(prefix === "" ? {} : { "access-control-allow-origin": "*" }),
});

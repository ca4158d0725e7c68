/** What may be asked of a shared tab: only what stays inside of it. Everything else of the protocol is refused here, whatever the gateway sends. */

const DOMAINS = new Set([
  "Accessibility",
  "CSS",
  "DOM",
  "DOMSnapshot",
  "Emulation",
  "Fetch",
  "Input",
  "Inspector",
  "IO",
  "Log",
  "Network",
  "Overlay",
  "Page",
  "Runtime",
]);

/** Parts of these domains that reach beyond the tab: cookies of other sites, the cache, downloads, addresses of their own. */
const REFUSED = new Set([
  "Network.clearBrowserCache",
  "Network.clearBrowserCookies",
  "Network.deleteCookies",
  "Network.getAllCookies",
  "Network.getCookies",
  "Network.loadNetworkResource",
  "Network.setCookie",
  "Network.setCookieControls",
  "Network.setCookies",
  "Page.deleteCookie",
  "Page.getCookies",
  "Page.setDownloadBehavior",
]);

/** Frames and workers of the tab itself. */
const CHILDREN = new Set(["Target.setAutoAttach", "Target.detachFromTarget"]);

const isWebAddress = (url) => url === "about:blank" || /^https?:\/\//i.test(String(url));

/** Why a command is refused; undefined when it is let through. */
export function refusalOf(method, params) {
  const [domain] = String(method).split(".");
  const isKnown = CHILDREN.has(method) || (DOMAINS.has(domain) && !REFUSED.has(method));
  if (!isKnown) return `${method} is not available for a shared tab`;
  if (method === "Page.navigate" && !isWebAddress(params?.url)) return "a shared tab goes to http and https addresses only";
  return undefined;
}

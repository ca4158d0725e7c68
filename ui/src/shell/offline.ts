/** Opens the page while the gateway is away: it then says so, and connects when the gateway is back. */
import type { PageContext } from "./context.ts";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

async function startWorker(): Promise<void> {
  const address = new URL("offline.js", document.baseURI).href;
  const rules = {
    createScriptURL(url: string): string {
      if (url !== address) throw new Error(`expected ${address}, got ${url}`);
      return url;
    },
  };
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  const script = trustedTypes ? trustedTypes.createPolicy("openclaw-offline", rules).createScriptURL(address) : address;
  await navigator.serviceWorker.register(script);
  const { active } = await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller) active?.postMessage("store");
}

/** Waits for the first connection: a browser that never signs in stores nothing. There are no workers on a page without TLS from another machine. */
export function createOffline({ link }: Pick<PageContext, "link">): void {
  if (!("serviceWorker" in navigator)) return;
  let isStarted = false;
  link.state.subscribe(({ kind }) => {
    if (kind !== "open" || isStarted) return;
    isStarted = true;
    startWorker().catch(() => {}); // Without it the page works as before, while the gateway is there.
  });
}

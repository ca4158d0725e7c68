/** The page in a browser with its ordinary settings, which opens connections before it needs them. */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { openOrdinaryWindow } from "../harness/browser.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { PAGE_PATHS } from "./harness/pages.ts";
import { logIn } from "./harness/scene.ts";
import { watch } from "./harness/watch.ts";

const TOKEN = "a-token-for-the-page-0123456789";
/** Longer than the gateway waits for a connection to ask something: its limits are the real ones. */
const PATIENCE = { timeout: 30_000, interval: 100 };

interface PageDocument {
  readonly head: { append(element: object): void };
  createElement(name: string): object;
}

interface Relayed {
  asked: number;
  /** Bytes that the gateway sent before it was asked anything. */
  unasked: number;
  open: boolean;
}

/** Passes connections on to the gateway, and counts what each side sends. */
async function openRelay(port: number): Promise<Disposable & { readonly url: string; readonly connections: readonly Relayed[] }> {
  const connections: Relayed[] = [];
  const server = createServer((browser) => {
    const relayed: Relayed = { asked: 0, unasked: 0, open: true };
    connections.push(relayed);
    const gateway = connect(port, "127.0.0.1");
    browser.on("data", ({ length }) => (relayed.asked += length));
    gateway.on("data", ({ length }) => (relayed.unasked += relayed.asked === 0 ? length : 0));
    for (const socket of [browser, gateway]) socket.on("error", () => {});
    browser.pipe(gateway).pipe(browser);
    browser.once("close", () => {
      relayed.open = false;
      gateway.destroy();
    });
    gateway.once("close", () => browser.destroySoon());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections, [Symbol.dispose]: () => void server.close() };
}

describeInBrowser("ordinary settings", () => {
  test("the page works after the connections that the browser opened ahead have reached their limit", { timeout: 90_000 }, async () => {
    const place = makePlace();
    place.configure(JSON.stringify({ gateway: { auth: { mode: "token", token: TOKEN } } }));
    try {
      await using gateway = await place.gateway();
      using relay = await openRelay(Number(new URL(gateway.url!).port));
      const { url, connections } = relay;
      await using window = await openOrdinaryWindow();
      window.setDefaultTimeout(20_000);
      const watched = await watch(window);
      const page = await window.newPage();
      await page.goto(`${url}/chat`);
      await logIn(page, TOKEN);
      // Once the connections of the first visit are gone, the browser opens others ahead of need. Here it is asked to, so that there surely are some.
      await expect.poll(() => connections.filter(({ open }) => open).length, PATIENCE).toBe(1);
      const before = connections.length;
      await page.evaluate(() => {
        const { document } = globalThis as unknown as { readonly document: PageDocument };
        for (const crossOrigin of [null, ""])
          document.head.append(Object.assign(document.createElement("link"), { rel: "preconnect", href: "/", crossOrigin }));
      });
      await expect.poll(() => connections.length, PATIENCE).toBeGreaterThan(before);
      await expect.poll(() => connections.filter(({ open }) => open).length, PATIENCE).toBe(1);
      expect(connections.slice(before)).toContainEqual({ asked: 0, unasked: 0, open: false });
      await page.reload();
      await page.locator("oc-menu").waitFor();
      for (const path of PAGE_PATHS) {
        await page.locator(`oc-menu a[href="${path}"]`).click();
        await page.locator(`oc-${path}-page`).waitFor();
      }
      expect(watched.errors).toEqual([]);
    } finally {
      rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
    }
  });
});

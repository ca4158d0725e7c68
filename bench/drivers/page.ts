/** The Control UI in a headless browser, timed from inside the page. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, CDPSession, Page } from "playwright-core";
import { launchChromium } from "../../test/harness/browser.ts";
import type { PageElement, PageRoot, PageWindow } from "../../test/harness/in-page.ts";
import { FRAME_CATEGORIES, scriptPerFrame } from "./frames.ts";

export interface BenchPage extends AsyncDisposable {
  /** Loads the chat page as if for the first time, the login apart. */
  load(): Promise<{ readonly interactiveMs: number; readonly transferredKb: number }>;
  /** Loads an empty page from a server that does nothing else. */
  loadEmpty(): Promise<number>;
  /** Goes to a session and waits until a text of it is painted. */
  open(sessionKey: string, text: string): Promise<number>;
  /** Milliseconds of script in each frame while something is going on. */
  frames(during: () => Promise<unknown>): Promise<readonly number[]>;
  /** After garbage was collected. */
  memory(): Promise<{ readonly heapMb: number; readonly nodes: number }>;
}

/** Milliseconds from the start of the navigation until one can write: the composer is there only when the gateway has said hello. */
const untilInteractive = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const { document, requestAnimationFrame } = globalThis as unknown as PageWindow;
    const inside = (root: PageRoot | null | undefined, ...[tag, ...rest]: string[]): PageElement | null | undefined => {
      const found = tag === undefined ? undefined : root?.querySelector(tag);
      return rest.length === 0 ? found : inside(found?.shadowRoot, ...rest);
    };
    for (;;) {
      const box = inside(document, "oc-app", "oc-chat-page", "oc-composer", "textarea");
      if (box && box.disabled !== true) return performance.now();
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });

async function startEmpty(): Promise<AsyncDisposable & { readonly url: string }> {
  const html = "<!doctype html><title>empty</title>";
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html", "cache-control": "no-store" }).end(html)).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Sums what comes over the wire, headers included, while something is going on. */
async function transferred(cdp: CDPSession, during: () => Promise<unknown>): Promise<number> {
  let bytes = 0;
  const count = ({ encodedDataLength }: { readonly encodedDataLength: number }): void => void (bytes += encodedDataLength);
  cdp.on("Network.loadingFinished", count);
  await during();
  cdp.off("Network.loadingFinished", count);
  return bytes / 1024;
}

/** Opens one in a state folder's sessions, and waits until its text is on the screen. */
const openInside = (page: Page, sessionKey: string, text: string): Promise<number> =>
  page.evaluate(
    async ([key, wanted]) => {
      const { dispatchEvent, document, history, PopStateEvent, requestAnimationFrame } = globalThis as unknown as PageWindow;
      const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
      const transcript = (): PageRoot | null | undefined =>
        document.querySelector("oc-app")?.shadowRoot?.querySelector("oc-chat-page")?.shadowRoot?.querySelector("oc-transcript")?.shadowRoot;
      const started = performance.now();
      history.pushState(null, "", new URL(`chat/${encodeURIComponent(key)}`, document.baseURI));
      dispatchEvent(new PopStateEvent("popstate"));
      const isShown = (): boolean => transcript()?.textContent?.includes(wanted) ?? false;
      while (!isShown()) await frame();
      await frame();
      return performance.now() - started;
    },
    [sessionKey, text] as const,
  );

/** @param link logs the browser in, once */
export async function openBenchPage(url: string, link: string): Promise<BenchPage> {
  const browser: Browser = await launchChromium({ build: "whole" });
  const empty = await startEmpty();
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await page.goto(link);
  await untilInteractive(page);
  return {
    async load() {
      await page.goto("about:blank");
      await cdp.send("Network.clearBrowserCache");
      let interactiveMs = 0;
      const transferredKb = await transferred(cdp, async () => {
        await page.goto(`${url}/chat`, { waitUntil: "commit" });
        interactiveMs = await untilInteractive(page);
        await page.waitForLoadState("networkidle");
      });
      return { interactiveMs, transferredKb };
    },
    async loadEmpty() {
      await page.goto(empty.url);
      return page.evaluate(() => {
        const [navigation] = performance.getEntriesByType("navigation" as never) as unknown as readonly { readonly loadEventEnd: number }[];
        return navigation!.loadEventEnd;
      });
    },
    open: (sessionKey, text) => openInside(page, sessionKey, text),
    async frames(during) {
      await browser.startTracing(page, { categories: FRAME_CATEGORIES });
      await during();
      const frames = scriptPerFrame(await browser.stopTracing());
      if (frames.length === 0) throw new Error("the browser's trace has no frames");
      return frames;
    },
    async memory() {
      await cdp.send("Performance.enable");
      for (let round = 0; round < 3; round += 1) await cdp.send("HeapProfiler.collectGarbage");
      const { metrics } = await cdp.send("Performance.getMetrics");
      const metric = (name: string): number => metrics.find((one) => one.name === name)?.value ?? Number.NaN;
      return { heapMb: metric("JSHeapUsedSize") / 2 ** 20, nodes: metric("Nodes") };
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await empty[Symbol.asyncDispose]();
    },
  };
}

/** The Control UI in a headless browser, timed from inside the page. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, CDPSession, Page } from "playwright-core";
import { launchChromium } from "../../test/harness/browser.ts";
import type { PageElement, PageRoot, PageWindow } from "../../test/harness/in-page.ts";
import type { BenchClient } from "./client.ts";
import { FRAME_CATEGORIES, readTrace, type MainThread } from "./frames.ts";

export interface BenchPage extends AsyncDisposable {
  /** Loads the chat page as if for the first time, the login apart. */
  load(): Promise<{ readonly interactiveMs: number; readonly transferredKb: number }>;
  /** Loads an empty page from a server that does nothing else. */
  loadEmpty(): Promise<number>;
  /** Goes to a session and waits until a text of it is painted. */
  open(sessionKey: string, text: string): Promise<number>;
  /** Goes to another page, and waits until it is painted. */
  go(path: string): Promise<void>;
  /** What the page's main thread did while something was going on. */
  traced(during: () => Promise<unknown>): Promise<MainThread>;
  /** Scrolls the list of conversations from one end towards the other. Gives the milliseconds between frames, and the pixels that it has. */
  scrollList(ms: number): Promise<{ readonly frames: readonly number[]; readonly pixels: number }>;
  /** Types into the search of the list. Gives the milliseconds until the first message that has the words is painted. */
  search(words: string): Promise<number>;
  /** Opens the palette and closes it. */
  peek(): Promise<void>;
  /** Milliseconds of a loop that is always the same: how fast this browser is on this machine now. */
  loop(): Promise<number>;
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

/** What is looked for in the page, through the shadow roots. */
interface Scrolling extends PageElement {
  scrollTop: number;
  readonly scrollHeight: number;
  readonly clientHeight: number;
}

const scrollInside = (page: Page, ms: number): Promise<{ readonly frames: readonly number[]; readonly pixels: number }> =>
  page.evaluate(async (lasting) => {
    const { document, requestAnimationFrame } = globalThis as unknown as PageWindow;
    const deep = (root: PageRoot): readonly PageElement[] =>
      [...root.querySelectorAll("*")].flatMap((element) => (element.shadowRoot ? [element, ...deep(element.shadowRoot)] : [element]));
    const sidebar = deep(document).find(({ localName }) => localName === "oc-chat-sidebar");
    const list = (sidebar?.shadowRoot ? deep(sidebar.shadowRoot) : [])
      .map((element) => element as Scrolling)
      .toSorted((a, b) => b.scrollHeight - b.clientHeight - (a.scrollHeight - a.clientHeight))[0];
    if (!list || list.scrollHeight <= list.clientHeight) throw new Error("the list of conversations does not scroll");
    const next = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    const frames: number[] = [];
    const start = await next();
    for (let last = start, now = start; now - start < lasting; last = now) {
      list.scrollTop += 120;
      now = await next();
      frames.push(now - last);
    }
    const pixels = list.scrollHeight;
    list.scrollTop = 0;
    return { frames, pixels };
  }, ms);

const searchInside = (page: Page, words: string): Promise<number> =>
  page.evaluate(async (typed) => {
    const { document, requestAnimationFrame } = globalThis as unknown as PageWindow;
    const root = (): PageRoot | null | undefined =>
      document.querySelector("oc-app")?.shadowRoot?.querySelector("oc-chat-page")?.shadowRoot?.querySelector("oc-chat-sidebar")?.shadowRoot;
    const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
    const box = root()?.querySelector('input[type="search"]') as unknown as { value: string; dispatchEvent(event: Event): void };
    const type = (text: string): void => {
      box.value = text;
      box.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    };
    const started = performance.now();
    type(typed);
    while (!root()?.querySelector(".hit")) await frame();
    await frame();
    const took = performance.now() - started;
    type("");
    while (root()?.querySelector(".hit")) await frame();
    return took;
  }, words);

/** Opens the page of a gateway in a browser, signed in with a link that the client asks for. */
export async function openBenchPage({ port }: { readonly port: number }, client: Pick<BenchClient, "request">): Promise<BenchPage> {
  const url = `http://127.0.0.1:${port}`;
  const { path: link } = await client.request("login.code");
  const browser: Browser = await launchChromium({ build: "whole" });
  const empty = await startEmpty();
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await page.goto(new URL(String(link), url).href);
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
    async go(path) {
      await page.evaluate((to) => {
        const { dispatchEvent, document, history, PopStateEvent } = globalThis as unknown as PageWindow;
        history.pushState(null, "", new URL(to, document.baseURI));
        dispatchEvent(new PopStateEvent("popstate"));
      }, path);
      await page.locator(`oc-${path.replace(/\/.*/, "")}-page`).waitFor();
    },
    async traced(during) {
      await browser.startTracing(page, { categories: FRAME_CATEGORIES });
      await during();
      const traced = readTrace(await browser.stopTracing());
      if (traced.frames.length === 0 || traced.tasks.length === 0) throw new Error("the browser's trace has no frames or no tasks");
      return traced;
    },
    scrollList: (ms) => scrollInside(page, ms),
    search: (words) => searchInside(page, words),
    async peek() {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search or run" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("combobox", { name: "Search or run" }).waitFor({ state: "detached" });
    },
    loop: () =>
      page.evaluate(() => {
        const started = performance.now();
        let sum = 0;
        for (let at = 0; at < 20_000_000; at += 1) sum = (sum + at * 31) | 0;
        return performance.now() - started + (sum === 1 ? 1 : 0);
      }),
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

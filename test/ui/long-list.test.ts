import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestStore } from "../harness/program.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const SESSIONS = 10_000;
const SOON = { timeout: 20_000 };
const key = (n: number): string => `agent:main:web:n${n}`;
const scroller = (page: Page): Locator => page.locator("oc-chat-sidebar .scroller");
const rows = (page: Page): Locator => page.locator("oc-chat-sidebar li.session");

async function seed(stateDir: string): Promise<void> {
  await using store = await openTestStore(stateDir);
  for (let from = 0; from < SESSIONS; from += 500) {
    await store.commit(
      Array.from({ length: 500 }, (_, at) => {
        const n = from + at;
        const entry = { sessionId: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`, updatedAt: 1_790_000_000_000 - n * 60_000, label: `Talk ${n}` };
        return ["sessions.put", { key: key(n), agentId: "main", entry }] as const;
      }),
    );
  }
}

/** What the page asks the gateway for the list. */
function lists(page: Page): Promise<{ readonly asked: Record<string, unknown>[]; hold: boolean; release(): void }> {
  const state = { asked: [] as Record<string, unknown>[], hold: false, held: [] as (() => void)[], release: () => state.held.splice(0).forEach((go) => go()) };
  return page
    .routeWebSocket(/./, (socket) => {
      const gateway = socket.connectToServer();
      socket.onMessage((text) => {
        const { method, params } = JSON.parse(String(text)) as { method?: string; params?: Record<string, unknown> };
        if (method === "sessions.list") state.asked.push(params ?? {});
        const isSearch = method === "sessions.list" && params?.["search"] !== undefined;
        if (isSearch && state.hold) state.held.push(() => gateway.send(text));
        else gateway.send(text);
      });
    })
    .then(() => state);
}

describeInBrowser("a list of ten thousand conversations", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ prepare: ({ stateDir }) => seed(stateDir) });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("is read page by page as it is scrolled, each page once, and only what is in view is in the page", async () => {
    const page = await scene.open("chat");
    const { asked } = await lists(page);
    await page.reload();
    await page.getByText("Talk 0", { exact: true }).waitFor();
    expect(asked.every(({ limit }) => Number(limit) <= 200)).toBe(true);
    asked.length = 0;
    // Down to the thousandth.
    const seen = async (): Promise<number> => {
      await scroller(page).evaluate((element) => element.scrollTo(0, element.scrollHeight));
      return page.getByText(/^Talk 1\d\d\d$/).count();
    };
    await expect.poll(seen, SOON).toBeGreaterThan(0);
    const pages = asked.filter(({ cursor }) => cursor !== undefined);
    expect(new Set(pages.map(({ cursor }) => cursor)).size).toBe(pages.length);
    expect(await rows(page).count()).toBeLessThan(60);
    await scroller(page).evaluate((element) => element.scrollTo(0, 0));
    await page.getByText("Talk 0", { exact: true }).waitFor();
    await page.context().close();
  });

  test("every row stands where the list counts it", async () => {
    const page = await scene.open("chat");
    await page.getByText("Talk 0", { exact: true }).waitFor();
    await scroller(page).evaluate((element) => element.scrollTo(0, 1500));
    await page.getByText("Talk 30", { exact: true }).waitFor();
    const tops = await rows(page).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    expect(new Set(tops.slice(1).map((top, at) => Math.round(top - tops[at]!)))).toEqual(new Set([52]));
    await page.context().close();
  });

  test("a search shows what is at hand with the first key, while the gateway still looks, and then what it finds far back", async () => {
    const page = await scene.open("chat");
    const list = await lists(page);
    await page.reload();
    await page.getByText("Talk 0", { exact: true }).waitFor();
    list.hold = true;
    const box = page.getByLabel("Search conversations");
    await box.pressSequentially("talk 12");
    await expect.poll(() => page.locator("oc-chat-sidebar .title").allInnerTexts(), SOON).toEqual(["Talk 12"]);
    list.hold = false;
    list.release();
    await page.getByText("Talk 112", { exact: true }).waitFor();
    await page.context().close();
  });
});

/** A connection as on a train: 400 ms there and back, 50 KB a second. Everything works, says that it is loading, and loses nothing. */
import { mkdirSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Place } from "../harness/gateway-process.ts";
import { openTestStore } from "../harness/program.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { logIn, openScene, type Scene } from "./harness/scene.ts";
import { watch } from "./harness/watch.ts";

const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000 };
const OFFLINE = { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
const LONG = "agent:main:web:long";
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });

async function prepare(place: Place): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  const entries = Array.from({ length: 2000 }, (_, at) =>
    line(`e${at}`, at === 0 ? null : `e${at - 1}`, said(`Message ${at} of a long conversation, with some words in it.`), at),
  );
  await seedSession(store, entries, LONG, "long");
}

describeInBrowser("a slow network", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock", prepare });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("sign in, open a long conversation, send, and switch pages", { timeout: 120_000 }, async () => {
    const window = await scene.window();
    const watched = await watch(window);
    const page = await window.newPage();
    const cdp = await window.newCDPSession(page);
    await cdp.send("Network.enable");
    await cdp.send("Network.emulateNetworkConditions", SLOW);
    await page.goto(scene.url, { waitUntil: "commit" });
    await logIn(page, scene.token);
    await page.goto(`${scene.url}/chat/${encodeURIComponent(LONG)}`, { waitUntil: "commit" });
    await page.locator("oc-transcript").getByText("Message 1999 of a long conversation").waitFor();
    await box(page).fill("over a slow line @say=it-came");
    await box(page).press("Enter");
    // It stands there at once, and the box is free for more.
    await page.locator("oc-transcript").getByText("over a slow line").waitFor();
    expect(await box(page).inputValue()).toBe("");
    await page.getByRole("group", { name: "Answer" }).getByText("it-came").waitFor();
    await box(page).fill("half a thought");
    for (const path of ["overview", "sessions", "logs"]) {
      await page.locator(`oc-menu a[href="${path}"]`).click();
      await page.locator(`oc-${path}-page`).getByRole("heading", { level: 1 }).waitFor();
    }
    await page.goto(`${scene.url}/chat/${encodeURIComponent(LONG)}`, { waitUntil: "commit" });
    await expect.poll(() => box(page).inputValue()).toBe("half a thought");
    await expect.poll(() => page.locator("oc-transcript").getByText("over a slow line").count()).toBe(1);
    expect(watched.errors).toEqual([]);
    await window.close();
  });

  test("a page that is chosen while its code cannot be loaded says so, and opens when the network is back", { timeout: 120_000 }, async () => {
    const page = await scene.open("chat");
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Network.enable");
    await cdp.send("Network.emulateNetworkConditions", OFFLINE);
    await page.locator('oc-menu a[href="usage"]').click();
    await page.getByText("This page could not be loaded").waitFor();
    await cdp.send("Network.emulateNetworkConditions", SLOW);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.locator("oc-usage-page").getByRole("heading", { level: 1 }).waitFor();
    await page.context().close();
  });
});

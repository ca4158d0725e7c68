import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../harness/browser.ts";
import { expectInTime } from "../harness/in-time.ts";
import type { PageWindow } from "../harness/in-page.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { logIn, openScene, type Scene } from "./harness/scene.ts";
import { whenOut } from "./harness/when-out.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const isIn = (page: Page): Promise<void> => page.locator("oc-menu").waitFor();
const isOut = (page: Page): Promise<void> => page.getByRole("heading", { name: "Sign in" }).waitFor();
const refusal = (page: Page): Promise<string> => page.getByRole("alert").innerText();
const answer = (page: Page): Locator => page.getByText("I am the built-in offline model");

/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 15_000 };

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press("Enter");
}

/** The gateway says it to each tab, and the tab that hears it first says it to the others. */
const OUT = /revoked or replaced|was signed out/;

/** Connections that a page tries from now on. */
function countTries(page: Page): { readonly count: number } {
  const tries = { count: 0 };
  page.on("websocket", () => (tries.count += 1));
  return tries;
}

/** Keys under which the browser keeps tokens: they end with the device and the role. */
const tokenKeys = (page: Page): Promise<string[]> => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("device-token")));
const deviceOf = async (page: Page): Promise<string> => (await tokenKeys(page))[0]!.split(".").at(-2)!;

/** A page of a window of its own that came in by a link. */
async function openByLink(scene: Scene, path: string): Promise<Page> {
  const page = await (await scene.window()).newPage();
  await page.goto(scene.link());
  await isIn(page);
  await page.goto(`${scene.url}/${path}`);
  await box(page).waitFor();
  return page;
}

describeInBrowser("what a page stood on changes", () => {
  let scene: Scene;
  beforeAll(async () => {
    // Who pastes the token stands on it here; who comes by a link has a token of the browser's own, as everywhere.
    scene = await openScene({ config: { gateway: { controlUi: { allowInsecureAuth: true } } } });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("a new token of the gateway puts those out who stood on the old one, at once and without a try; their draft stays, and tokens of browsers stay good", async () => {
    const { token } = scene;
    const [first, shared] = [await openByLink(scene, session("linked")), await scene.open(session("shared"))];
    const second = await first.context().newPage();
    await second.goto(`${scene.url}/${session("linked")}`);
    await box(second).waitFor();
    expect([(await tokenKeys(first)).length, (await tokenKeys(shared)).length]).toEqual([1, 0]);
    await box(shared).fill("half a thought");
    const [stood, others] = [countTries(shared), [first, second].map(countTries)];
    const left = whenOut(shared);
    const { code, stderr } = scene.cli("config", "set", "gateway.auth.token", '"another-token-9876543210"');
    expect(code, stderr).toBe(0);
    // The file is taken when it has rested for a moment.
    await scene.gateway.waitFor(/configuration changed.*gateway\.auth/);
    const inForce = Date.now();
    expectInTime((await left) - inForce, 1000);
    expect(await refusal(shared)).toMatch(/token or password was changed/);
    await say(first, "What can you do?");
    for (const one of [first, second]) await answer(one).first().waitFor();
    expect([stood.count, ...others.map(({ count }) => count)]).toEqual([0, 0, 0]);
    expect([await shared.locator("oc-chat-page").count(), await shared.locator("oc-menu").count()]).toEqual([0, 0]);
    await shared.getByLabel(/of the gateway/).fill(token);
    await shared.getByRole("button", { name: "Sign in" }).click();
    await expect.poll(() => refusal(shared), SOON).toBe("This is not the gateway’s token.");
    expect(stood.count).toBe(1);
    await logIn(shared, "another-token-9876543210");
    await expect.poll(() => box(shared).inputValue(), SOON).toBe("half a thought");
    expect(stood.count).toBeLessThanOrEqual(3);
    for (const one of [first, shared]) await one.context().close();
  });

  test("a new token of a browser puts all its tabs out without a try; a login in one of them lets all in, with what was written", async () => {
    const first = await openByLink(scene, session("replaced"));
    await say(first, "What can you do?");
    const second = await first.context().newPage();
    await second.goto(`${scene.url}/${session("replaced")}`);
    for (const one of [first, second]) await answer(one).first().waitFor();
    await box(second).fill("half a thought");
    const tries = [first, second].map(countTries);
    const left = [first, second].map(whenOut);
    const { code, stderr } = scene.cli("devices", "rotate", "--device", await deviceOf(first), "--role", "operator");
    const ended = Date.now();
    expect(code, stderr).toBe(0);
    for (const at of left) expectInTime((await at) - ended, 1000);
    for (const one of [first, second]) expect([await refusal(one), await answer(one).count()]).toEqual([expect.stringMatching(OUT), 0]);
    const link = scene.link();
    expect(tries.map(({ count }) => count)).toEqual([0, 0]);
    expect(await tokenKeys(first)).toEqual([]);
    await first.goto(link);
    for (const one of [first, second]) await isIn(one);
    await expect.poll(() => box(second).inputValue(), SOON).toBe("half a thought");
    await answer(second).first().waitFor();
    await first.context().close();
  });

  test("a user who logs out is out in every tab", async () => {
    const first = await openByLink(scene, session("leaving"));
    const second = await first.context().newPage();
    await second.goto(`${scene.url}/devices`);
    await second.getByRole("button", { name: "Sign out this browser" }).first().click();
    await second.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    for (const one of [first, second]) await isOut(one);
    expect(await tokenKeys(first)).toEqual([]);
    await first.context().close();
  });

  test("an old link in a browser that is in already changes nothing", async () => {
    const page = await openByLink(scene, session("again"));
    const link = scene.link();
    const other = await (await scene.window()).newPage();
    await other.goto(link);
    await isIn(other);
    await page.goto(link);
    await isIn(page);
    for (const one of [page, other]) await one.context().close();
  });
});

/** Notes what a page shows at the moment at which it is shown, before any of its own code runs. */
async function noteShown(page: Page): Promise<() => Promise<readonly { readonly persisted: boolean; readonly text: string }[]>> {
  await page.addInitScript(`
    const said = (root) => [...root.querySelectorAll("*")].map((element) => (element.shadowRoot ? said(element.shadowRoot) : "")).join("") + root.textContent;
    globalThis.shownPages = [];
    addEventListener("pageshow", ({ persisted }) => shownPages.push({ persisted, text: document.body ? said(document.body) : "" }));
  `);
  return () => page.evaluate("shownPages");
}

/** How the page that is shown was come to. */
const arrival = (page: Page): Promise<string> => page.evaluate(`performance.getEntriesByType("navigation")[0].type`);

describeInBrowser("the back button", () => {
  let scene: Scene;
  let browser: Browser;
  beforeAll(async () => {
    scene = await openScene();
    browser = await launchChromium({ keepsPages: true });
  });
  afterAll(async () => {
    await browser?.close();
    await scene?.[Symbol.asyncDispose]();
  });

  async function talked(name: string, prepare?: (page: Page) => Promise<unknown>): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(15_000);
    await prepare?.(page);
    await page.goto(`${scene.url}/${session(name)}`);
    await logIn(page);
    await say(page, "What can you do?");
    await answer(page).first().waitFor();
    return page;
  }

  async function revoke(deviceId: string): Promise<void> {
    const { code, stderr } = scene.cli("devices", "revoke", "--device", deviceId, "--role", "operator");
    expect(code, stderr).toBe(0);
  }

  test("the page is never put aside: going back reloads it, and it asks to sign in when the browser's token is gone", async () => {
    let shown: Awaited<ReturnType<typeof noteShown>>;
    const page = await talked("fresh", async (one) => (shown = await noteShown(one)));
    const deviceId = await deviceOf(page);
    await page.goto("about:blank");
    await revoke(deviceId);
    await page.goBack({ waitUntil: "commit" });
    await isOut(page);
    expect(await arrival(page)).toBe("back_forward");
    expect(await shown!()).toEqual([{ persisted: false, text: expect.not.stringContaining("offline model") }]);
    expect([await answer(page).count(), await page.locator("oc-menu").count()]).toEqual([0, 0]);
    await page.context().close();
  });

  test.each(["about:blank", "icon.svg"])(
    "a page that is put aside all the same (for %s) comes back empty, asks at once, and shows what it may",
    async (away) => {
      const elsewhere = away.includes(":") ? away : `${scene.url}/${away}`;
      let shown: Awaited<ReturnType<typeof noteShown>>;
      const page = await talked(`aside-${away.slice(0, 4)}`, async (one) => {
        shown = await noteShown(one);
        // As a browser that does not care for what the gateway asks, or something between them that changes it.
        await one.route(/\/chat\//, async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, headers: { ...response.headers(), "cache-control": "no-cache" } });
        });
      });
      await box(page).fill("half a thought");
      const deviceId = await deviceOf(page);
      await page.evaluate(() => (globalThis as unknown as PageWindow).document.querySelector("oc-app")?.setAttribute("data-same-page", ""));
      await page.goto(elsewhere);
      await page.goBack({ waitUntil: "commit" });
      await answer(page).first().waitFor();
      await expect.poll(() => box(page).inputValue(), SOON).toBe("half a thought");
      await page.goto(elsewhere);
      await revoke(deviceId);
      await page.goBack({ waitUntil: "commit" });
      await isOut(page);
      expect(await page.locator("oc-app[data-same-page]").count()).toBe(1);
      const empty = { persisted: true, text: expect.not.stringMatching(/offline model|half a thought|aside-/) };
      expect((await shown!()).slice(1)).toEqual([empty, empty]);
      expect([await answer(page).count(), await page.locator("oc-menu").count()]).toEqual([0, 0]);
      await page.context().close();
    },
  );
});

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { PageWindow } from "../harness/in-page.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { logIn, openScene, type Scene } from "./harness/scene.ts";
import { watch } from "./harness/watch.ts";

const isIn = (page: Page): Promise<void> => page.locator("oc-menu").waitFor();
const isOut = (page: Page): Promise<void> => page.getByRole("heading", { name: "Sign in" }).waitFor();
const refusal = (page: Page): Promise<string> => page.getByRole("alert").innerText();

describeInBrowser("getting in", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ browser: { ordinary: true } });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  /** A page in a window of its own, which is closed at the end. */
  async function fresh(): Promise<AsyncDisposable & { readonly page: Page }> {
    const window = await scene.window();
    return { page: await window.newPage(), [Symbol.asyncDispose]: () => window.close() };
  }

  test("a link logs one browser in, once; the browser stays in, the next one stays out", async () => {
    const link = scene.link();
    await using first = await fresh();
    await first.page.goto(link);
    await isIn(first.page);
    expect(first.page.url()).not.toContain("code");
    await first.page.reload();
    await isIn(first.page);
    await using second = await fresh();
    await second.page.goto(link);
    await isOut(second.page);
    expect(await refusal(second.page)).toMatch(/already used or has expired.*openclaw dashboard/);
  });

  test("a link ends with the process that made it", async () => {
    const link = scene.link();
    await scene.restart("SIGTERM");
    await using late = await fresh();
    await late.page.goto(link);
    await isOut(late.page);
    expect(await refusal(late.page)).toMatch(/already used or has expired/);
  });

  test("a token is used once and not kept; a wrong one says so and changes nothing", async () => {
    await using one = await fresh();
    await one.page.goto(scene.url);
    await isOut(one.page);
    await one.page.getByLabel(/of the gateway/).fill("a-wrong-token");
    await one.page.getByRole("button", { name: "Sign in" }).click();
    await one.page.getByRole("alert").waitFor();
    expect(await refusal(one.page)).toMatch(/token/i);
    await logIn(one.page);
    const kept = await one.page.evaluate(() => {
      const { document, localStorage, location, sessionStorage } = globalThis as unknown as PageWindow;
      return JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href]);
    });
    expect(kept).not.toContain(scene.token);
    await one.page.reload();
    await isIn(one.page);
  });

  test.each([
    "#token=TOKEN",
    "?token=TOKEN",
    "?gatewayUrl=wss://evil.example",
    "#gatewayUrl=wss://evil.example&token=TOKEN",
    "?gatewayUrl=wss://evil.example#token=TOKEN",
  ])("an address with %s neither logs in nor leads elsewhere", async (rest) => {
    const window = await scene.window();
    const watched = await watch(window);
    const page = await window.newPage();
    await page.goto(`${scene.url}/chat${rest.replace("TOKEN", scene.token)}`);
    await isOut(page);
    expect(watched.foreign(scene.url)).toEqual([]);
    expect(watched.requests.filter((address) => address.startsWith("ws"))).toEqual([`${scene.url.replace("http", "ws")}/`]);
    await window.close();
  });
});

describeInBrowser("another address", () => {
  test("below a base path and over TLS: the link, deep links and everything the page loads work, and nothing is asked for outside", async () => {
    await using scene = await openScene({ config: { gateway: { controlUi: { basePath: "/claw" }, tls: { enabled: true } } } });
    expect(scene.url).toMatch(/^https:.*\/claw$/);
    const window = await scene.window({ ignoreHTTPSErrors: true });
    const watched = await watch(window);
    const page = await window.newPage();
    await page.goto(scene.link().replace("localhost", "127.0.0.1"));
    await isIn(page);
    for (const place of ["overview", "sessions", "chat/agent%3Amain%3Aweb%3Aelsewhere"]) {
      await page.goto(`${scene.url}/${place}`);
      await page.locator("oc-menu a[aria-current=page]").waitFor();
      expect(new URL(page.url()).pathname).toBe(`/claw/${place}`);
    }
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("What can you do?");
    await page.keyboard.press("Enter");
    await page.locator("oc-transcript").getByText("I am the built-in offline model").first().waitFor();
    const outside = watched.requests.filter((address) => !/^(?:data|blob):/.test(address) && !new URL(address).pathname.startsWith("/claw/"));
    // A browser starts no worker of a page whose certificate it does not trust.
    const errors = watched.errors.filter((text) => !text.includes("SSL certificate error occurred when fetching the script"));
    expect({ outside, foreign: watched.foreign(scene.url), errors }).toEqual({ outside: [], foreign: [], errors: [] });
    expect(watched.requests.some((address) => address.startsWith("wss://"))).toBe(true);
  });
});

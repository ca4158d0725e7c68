import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PageWindow } from "../harness/in-page.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

/** The bar that says that there is no connection. */
const lost = (page: Page) => page.getByText("Connection lost");

/** What the worker of the page has stored. */
async function stored(): Promise<string[]> {
  const { caches } = globalThis as unknown as { readonly caches: { open(name: string): Promise<{ keys(): Promise<{ readonly url: string }[]> }> } };
  return (await (await caches.open("page")).keys()).map(({ url }) => url);
}

describeInBrowser("a connection that comes and goes", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("every open tab says that the gateway is gone, keeps what it shows, and is fresh when the gateway is back", async () => {
    const page = await scene.open("sessions");
    const tab = await page.context().newPage();
    await tab.goto(`${scene.url}/chat/agent%3Amain%3Aweb%3Aback`);
    const box = tab.getByRole("textbox", { name: "Message", exact: true });
    await box.fill("half a thought");
    scene.gateway.child.kill("SIGKILL");
    await scene.gateway.exited;
    for (const one of [page, tab]) await lost(one).waitFor();
    expect(await box.inputValue()).toBe("half a thought");
    await page.locator("oc-sessions-page").waitFor();
    await scene.restart();
    for (const one of [page, tab]) await lost(one).waitFor({ state: "detached" });
    await box.press("Enter");
    await tab.locator("oc-transcript").getByText("half a thought").waitFor();
    await page.locator("oc-sessions-page").getByText("half a thought").or(page.locator("oc-sessions-page").getByText("back")).first().waitFor();
    await page.context().close();
  });

  test("a restart of the gateway neither loads the page again nor logs anybody out", async () => {
    const page = await scene.open("chat");
    await page.evaluate(() => (globalThis as unknown as PageWindow).document.querySelector("oc-app")?.setAttribute("data-same-page", ""));
    await scene.restart("SIGTERM");
    await lost(page).waitFor({ state: "detached" });
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    expect(await page.locator("oc-app[data-same-page]").count()).toBe(1);
    await page.reload();
    await page.locator("oc-menu").waitFor();
    expect(await page.getByRole("heading", { name: "Sign in" }).count()).toBe(0);
    await page.context().close();
  });

  test("the page opens while the gateway is away, says so, and goes on when the gateway is back", async () => {
    const page = await scene.open("chat");
    await expect.poll(() => page.evaluate(stored), { timeout: 20_000 }).toEqual([`${scene.url}/`]);
    scene.gateway.child.kill("SIGKILL");
    await scene.gateway.exited;
    await page.reload();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("half a thought");
    await lost(page).waitFor();
    await page.goto(`${scene.url}/sessions`);
    await page.getByText("This page could not be loaded").waitFor();
    await scene.restart();
    await page.locator("oc-sessions-page").waitFor();
    await page.context().close();
  });
});

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PageWindow } from "../harness/in-page.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

/** The bar that says that there is no connection. */
const lost = (page: Page) => page.getByText("Connection lost");

const list = (page: Page) => page.locator("oc-chat-sidebar");

/** Says something in a conversation of its own. */
async function say(page: Page, url: string, name: string, text: string): Promise<void> {
  await page.goto(`${url}/chat/${encodeURIComponent(`agent:main:web:${name}`)}`);
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.fill(text);
  await box.press("Enter");
  await page.getByRole("group", { name: "Answer" }).first().waitFor();
  await list(page).getByRole("listitem").filter({ hasText: text }).first().waitFor();
}

async function act(page: Page, name: string, action: string): Promise<void> {
  await list(page).getByRole("listitem").filter({ hasText: name }).first().hover();
  await page.getByRole("button", { name: new RegExp(`^Actions for ${name}`) }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** What the worker of the page has stored. */
async function stored(): Promise<string[]> {
  const { caches } = globalThis as unknown as { readonly caches: { open(name: string): Promise<{ keys(): Promise<{ readonly url: string }[]> }> } };
  return (await (await caches.open("page")).keys()).map(({ url }) => url);
}

/** Pictures anywhere on the page that could not be loaded. */
function brokenPictures(): string[] {
  interface Root {
    querySelectorAll(
      selector: string,
    ): Iterable<{ readonly shadowRoot?: Root | null; readonly complete?: boolean; readonly naturalWidth?: number; readonly src?: string }>;
  }
  const look = (root: Root): string[] =>
    [...root.querySelectorAll("*")].flatMap((one) => [
      ...(one.complete === true && one.naturalWidth === 0 ? [one.src ?? ""] : []),
      ...(one.shadowRoot ? look(one.shadowRoot) : []),
    ]);
  return look((globalThis as unknown as { readonly document: Root }).document);
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
    await page.locator("oc-menu .logo").waitFor();
    expect(await page.evaluate(brokenPictures)).toEqual([]);
    await page.goto(`${scene.url}/sessions`);
    await page.getByText("This page could not be loaded").waitFor();
    await scene.restart();
    await page.locator("oc-sessions-page").waitFor();
    await page.context().close();
  });

  test("changes of the list made while the gateway is away survive a reload and are made once it is back", async () => {
    const page = await scene.open("chat");
    await say(page, scene.url, "holidays", "Holidays to plan");
    await say(page, scene.url, "groceries", "Groceries to buy");
    await expect.poll(() => page.evaluate(stored), { timeout: 20_000 }).toEqual([`${scene.url}/`]);
    scene.gateway.child.kill("SIGKILL");
    await scene.gateway.exited;
    await lost(page).waitFor();
    await act(page, "Holidays", "Pin");
    await page.getByText("This change is saved and made as soon as the connection is back").waitFor();
    await page.getByText("1 change waiting for the connection").waitFor();
    await act(page, "Groceries", "Move to folder…");
    await page.getByLabel("Name of the folder").or(page.getByLabel("New folder")).fill("Home");
    await page.getByRole("button", { name: "Create and move" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Groceries to buy, rename" }).click();
    await page.getByLabel("Name of the conversation").fill("Shopping");
    await page.getByLabel("Name of the conversation").press("Enter");
    await page.getByText("3 changes waiting for the connection").waitFor();
    await page.reload();
    await page.getByText("3 changes waiting for the connection").waitFor();
    await scene.restart();
    await page.getByText("3 changes made without a connection were saved.").waitFor();
    await list(page).getByRole("region", { name: "Pinned", exact: true }).getByText("Holidays to plan").first().waitFor();
    await list(page).getByRole("button", { name: /^Home/ }).waitFor();
    await page.getByRole("heading", { name: "Shopping" }).waitFor();
    await page.context().close();
  });

  test("a change that waits is made without a reload, too, and offers its undo; folders say at once that they need the gateway", async () => {
    const page = await scene.open("chat");
    await say(page, scene.url, "letters", "Letters to write");
    await act(page, "Letters", "Move to folder…");
    await page.getByLabel("New folder").or(page.getByLabel("Name of the folder")).fill("Drawer");
    await page.getByRole("button", { name: "Create and move" }).click();
    const folder = list(page).getByRole("button", { name: /^Drawer/ });
    await folder.click();
    await list(page).getByRole("listitem").filter({ hasText: "Letters" }).first().waitFor();
    scene.gateway.child.kill("SIGKILL");
    await scene.gateway.exited;
    await lost(page).waitFor();
    await act(page, "Letters", "Pin");
    await page.getByRole("button", { name: "Actions for folder Drawer" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Name of the folder").fill("Office");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("dialog").getByText("only with a connection to the gateway").waitFor();
    expect(await page.getByLabel("Name of the folder").inputValue()).toBe("Office");
    await scene.restart();
    await page.getByText("“Letters to write” pinned").waitFor();
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await list(page)
      .getByRole("button", { name: /^Office/ })
      .waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.context().close();
  });
});

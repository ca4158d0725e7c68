import { mkdirSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Place } from "../harness/gateway-process.ts";
import { openTestStore } from "../harness/program.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const key = (name: string): string => `agent:main:web:${name}`;
const SOON = { timeout: 15_000 };
const list = (page: Page): Locator => page.locator("oc-chat-sidebar");
const row = (page: Page, name: string): Locator => list(page).getByRole("listitem").filter({ hasText: name });
const group = (page: Page, name: string): Locator => list(page).getByRole("region", { name, exact: true });

const LONG = 5000;

/** Some conversations, one of them long with a word far back. */
async function seed(place: Place): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  const now = Date.now();
  for (const [at, name] of ["Groceries", "Holidays", "Taxes", "Garden"].entries()) {
    await seedSession(store, [line("a", null, said(`${name} to plan`), 1)], key(name.toLowerCase()), `session-${name}`);
    await store.commit([["sessions.patch", { key: key(name.toLowerCase()), patch: { updatedAt: now - at * 1000 } }]]);
  }
  const lines = Array.from({ length: LONG }, (_, n) =>
    line(`e${n}`, n === 0 ? null : `e${n - 1}`, said(n === 40 ? "the word is rhododendron, remember it" : `line ${n}`), n * 1000),
  );
  await seedSession(store, lines, key("long"), "session-long");
}

async function act(page: Page, name: string, action: string): Promise<void> {
  await row(page, name).hover();
  await page.getByRole("button", { name: new RegExp(`^Actions for ${name}`) }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

describeInBrowser("the list of conversations", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ prepare: seed });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene[Symbol.asyncDispose]());

  test("what is pinned stands first, in every browser; what is archived is hidden and found", async () => {
    const page = await scene.open();
    await act(page, "Taxes", "Pin");
    await group(page, "Pinned").getByText("Taxes to plan").first().waitFor();
    await act(page, "Holidays", "Archive");
    await row(page, "Holidays").waitFor({ state: "detached" });
    const other = await scene.open();
    await group(other, "Pinned").getByText("Taxes to plan").first().waitFor();
    expect(await row(other, "Holidays").count()).toBe(0);
    await other.getByLabel("Search conversations").fill("holid");
    await row(other, "Holidays").first().waitFor();
    await page.getByRole("button", { name: "Show archived (1)" }).click();
    await act(page, "Holidays", "Unarchive");
    await page.getByRole("button", { name: /archived/ }).waitFor({ state: "detached" });
    await act(page, "Taxes", "Unpin");
    await group(page, "Pinned").waitFor({ state: "detached" });
  });

  test("several are deleted at once, and all of them are back after Undo", async () => {
    const page = await scene.open();
    await act(page, "Groceries", "Select");
    await page.getByLabel("Select Garden to plan").check();
    await page.getByText("2 selected").waitFor();
    await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
    await page.getByText("2 conversations deleted").waitFor();
    await row(page, "Garden").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("2 conversations restored").waitFor();
    await row(page, "Garden").first().waitFor();
    await row(page, "Groceries").getByRole("link").first().click();
    await page.locator("oc-transcript").getByText("Groceries to plan").waitFor();
  });

  test("a conversation that is open here and deleted in another window says so, and what is typed then begins a new one", async () => {
    const page = await scene.open(`chat/${encodeURIComponent(key("garden"))}`);
    await page.locator("oc-transcript").getByText("Garden to plan").waitFor();
    const other = await scene.open();
    await act(other, "Garden", "Delete");
    await other.getByText("“Garden to plan” deleted").waitFor();
    await page.getByRole("alert").getByText("“Garden to plan” was deleted elsewhere.").waitFor();
    await row(page, "Garden").waitFor({ state: "detached" });
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("/status");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url(), SOON).not.toContain("garden");
    // Two deletions later each can still be undone.
    await act(other, "Taxes", "Delete");
    await other.getByText("“Taxes to plan” deleted").waitFor();
    await other.reload();
    await other.getByRole("button", { name: "Show deleted (2)" }).click();
    await other.getByRole("button", { name: "Restore Garden to plan" }).click();
    await row(other, "Garden").getByRole("link").first().waitFor();
    await other.getByRole("button", { name: "Restore Taxes to plan" }).click();
    await other.getByRole("button", { name: /deleted/ }).waitFor({ state: "detached" });
    await row(other, "Taxes").getByRole("link").first().waitFor();
  });

  test("conversations are put into folders, in every browser; a folder is renamed, removed and brought back", async () => {
    const page = await scene.open();
    await act(page, "Groceries", "Move to folder…");
    const dialog = page.getByRole("dialog", { name: "Move to folder" });
    await dialog.getByLabel("New folder").or(dialog.getByLabel("Name of the folder")).fill("Home");
    await dialog.getByRole("button", { name: "Create and move" }).click();
    await page.getByText("“Groceries to plan” moved to “Home”").waitFor();
    const folder = (from: Page, name: string): Locator => group(from, name).getByRole("button", { name: new RegExp(`^${name}`) });
    await folder(page, "Home").waitFor();
    await row(page, "Groceries").waitFor({ state: "detached" });
    const other = await scene.open();
    await folder(other, "Home").click();
    await group(other, "Home").getByText("Groceries to plan").first().waitFor();
    await other.reload();
    await group(other, "Home").getByText("Groceries to plan").first().waitFor();
    await act(page, "Holidays", "Move to folder…");
    await dialog.getByRole("button", { name: "Home" }).click();
    await page.getByText("“Holidays to plan” moved to “Home”").waitFor();
    await group(page, "Home").hover();
    await page.getByRole("button", { name: "Actions for folder Home" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Name of the folder").fill("House");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await folder(page, "House").getByText("2").waitFor();
    await group(page, "House").hover();
    await page.getByRole("button", { name: "Actions for folder House" }).click();
    await page.getByRole("menuitem", { name: "Remove folder" }).click();
    await folder(page, "House").waitFor({ state: "detached" });
    await row(page, "Groceries").first().waitFor();
    const toast = page.locator(".toast", { hasText: "Folder “House” removed" });
    await toast.getByRole("button", { name: "Undo" }).click();
    await folder(page, "House").getByText("2").waitFor();
    await folder(page, "House").click();
    for (const name of ["Groceries", "Holidays"]) {
      await act(page, name, "Take out of folder");
      await page.getByText(`“${name} to plan” taken out of its folder`).waitFor();
    }
    await folder(page, "House").waitFor({ state: "detached" });
  });

  test("pinning, archiving and moving are taken back with Undo", async () => {
    const page = await scene.open();
    const undo = (text: string): Promise<void> => page.locator(".toast", { hasText: text }).getByRole("button", { name: "Undo" }).click();
    await act(page, "Taxes", "Pin");
    await group(page, "Pinned").getByText("Taxes to plan").first().waitFor();
    await undo("“Taxes to plan” pinned");
    await group(page, "Pinned").waitFor({ state: "detached" });
    await act(page, "Taxes", "Archive");
    await row(page, "Taxes").waitFor({ state: "detached" });
    await undo("“Taxes to plan” archived");
    await row(page, "Taxes").first().waitFor();
  });

  test("words are found in messages, marked, and the message far back is gone to", async () => {
    const page = await scene.open();
    await page.getByLabel("Search conversations").fill("rhodod");
    const hit = group(page, "Messages").getByRole("link");
    await expect.poll(() => hit.locator("mark").allInnerTexts(), SOON).toEqual(["rhododendron"]);
    await hit.click();
    const found = page.locator("oc-transcript .item", { hasText: "the word is rhododendron" });
    await found.waitFor();
    await expect.poll(() => found.evaluate((item) => item.getBoundingClientRect().top > 0 && item.getBoundingClientRect().top < 600), SOON).toBe(true);
    // What is around it is read when it is scrolled to.
    const scrolled = async (): Promise<number> => {
      await page.locator("oc-transcript .scroller").evaluate((scroller) => (scroller.scrollTop = scroller.scrollTop === 0 ? 1 : 0));
      return page.locator("oc-transcript").getByText("line 0", { exact: true }).count();
    };
    await expect.poll(scrolled, SOON).toBe(1);
  });

  test("a name that is refused stays where it was typed, with the reason", async () => {
    const page = await scene.open(`chat/${encodeURIComponent(key("garden"))}`);
    await act(page, "Garden", "Move to folder…");
    const dialog = page.getByRole("dialog", { name: "Move to folder" });
    const box = dialog.getByLabel("New folder").or(dialog.getByLabel("Name of the folder"));
    await box.fill("Bad\u0007name");
    await dialog.getByRole("button", { name: "Create and move" }).click();
    await dialog.getByRole("alert").getByText("non-printable characters").waitFor();
    expect(await box.inputValue()).toBe("Bad\u0007name");
    await box.fill("Good name");
    await dialog.getByRole("button", { name: "Create and move" }).click();
    await dialog.waitFor({ state: "detached" });
    await list(page)
      .getByRole("button", { name: /^Good name/ })
      .waitFor();

    const label = page.getByLabel("Name of the conversation");
    await page.getByRole("button", { name: "Garden to plan, rename" }).click();
    await label.fill("Bad\u0007name");
    await label.press("Enter");
    await page
      .getByText(/non-printable characters/)
      .first()
      .waitFor();
    await expect.poll(() => label.inputValue()).toBe("Bad\u0007name");
    await label.press("Escape");
    await page.getByRole("heading", { name: "Garden to plan" }).waitFor();
    await list(page)
      .getByRole("button", { name: /^Good name/ })
      .click();
    await act(page, "Garden", "Take out of folder");
    await list(page)
      .getByRole("button", { name: /^Good name/ })
      .waitFor({ state: "detached" });
  });
});

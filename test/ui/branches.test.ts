import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const edited = (page: Page): Locator => page.getByRole("textbox", { name: "Edited message" });
const own = (page: Page): Locator => page.getByRole("group", { name: "You said" });
const answers = (page: Page): Locator => page.getByRole("group", { name: "Answer" });
const SOON = { timeout: 15_000 };

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press("Enter");
}

async function answered(page: Page, text: string): Promise<void> {
  await answers(page).getByText(text).last().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
}

async function press(row: Locator, name: string): Promise<void> {
  await row.hover();
  await row.getByRole("button", { name, exact: true }).click();
}

const texts = (rows: Locator): Promise<string[]> => rows.locator(".bubble").allInnerTexts();

describeInBrowser("branches", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock" });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene[Symbol.asyncDispose]());

  test("an edited message is another version: the arrows switch, other pages follow, and a restart keeps it", async () => {
    const page = await scene.open(session("edit"));
    await say(page, "one @say=first");
    await answered(page, "first");
    await say(page, "two @say=second");
    await answered(page, "second");
    await press(own(page).last(), "Edit");
    await edited(page).fill("TWO @say=another");
    await edited(page).press("Enter");
    await answered(page, "another");
    await expect.poll(() => texts(own(page)), SOON).toEqual(["one @say=first", "TWO @say=another"]);
    const other = await scene.open(session("edit"));
    await other.getByLabel("Version 2 of 2").waitFor();
    await page.getByRole("button", { name: "Previous version" }).click();
    for (const each of [page, other]) {
      await each.getByLabel("Version 1 of 2").waitFor();
      await expect.poll(() => texts(own(each)), SOON).toEqual(["one @say=first", "two @say=second"]);
    }
    await scene.restart();
    await page.reload();
    await page.getByLabel("Version 1 of 2").waitFor();
    await answers(page).getByText("second").waitFor();
  });

  test("an answer is made again, both are compared side by side, and the former one is used", async () => {
    const page = await scene.open(session("again"));
    await say(page, "tell me @say=an answer");
    await answered(page, "an answer");
    await press(answers(page).last(), "Regenerate");
    await page.getByLabel("Answer 2 of 2").waitFor();
    await expect.poll(() => texts(own(page)), SOON).toEqual(["tell me @say=an answer"]);
    await expect.poll(() => answers(page).count(), SOON).toBe(1);
    await page.getByRole("button", { name: "Compare answers" }).click();
    const dialog = page.getByRole("dialog", { name: "Compare answers" });
    await expect.poll(() => dialog.getByText("an answer").count(), SOON).toBe(2);
    await dialog.getByRole("button", { name: "Use this answer" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByLabel("Answer 1 of 2").waitFor();
  });

  test("while an answer is written, a change is refused with words, and nothing of it is lost", async () => {
    const page = await scene.open(session("busy"));
    const second = await scene.open(session("busy"));
    await say(page, "one @say=first");
    await answered(page, "first");
    await own(second).getByText("one @say=first").waitFor();
    await press(own(second).last(), "Edit");
    await edited(second).fill("changed @say=changed");
    await say(page, "slow @chunks=400 @gap=100");
    await second.getByText("An answer is in progress.").waitFor();
    expect(await second.getByRole("dialog").getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    await second.getByRole("dialog").getByRole("button", { name: "Send" }).click();
    await answered(second, "changed");
    await expect.poll(() => texts(own(page)), SOON).toEqual(["changed @say=changed"]);
  });
});

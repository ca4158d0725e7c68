import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** More stops than any page has before what is looked for. */
const MOST_STOPS = 150;

/** Presses Tab until something has the focus, and that is visible. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor({ state: "attached" });
  for (let at = 0; at < MOST_STOPS; at += 1) {
    if (await wanted.evaluate((element) => element.matches(":focus"))) {
      expect(await wanted.evaluate((element) => element.matches(":focus-visible"))).toBe(true);
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`${wanted.toString()} was not reached with ${MOST_STOPS} presses of Tab`);
}

/** Goes there with Tab and presses Enter. */
export async function enterOn(page: Page, wanted: Locator): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press("Enter");
}

/** Goes there with Tab and types over what is there. */
export async function typeInto(page: Page, wanted: Locator, text: string): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
}

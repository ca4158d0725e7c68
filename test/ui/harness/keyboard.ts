import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** More stops than any page has before what is looked for. */
const MOST_STOPS = 150;

/** Presses Tab until something has the focus, and that is visible. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  // It is looked for once: to find it by its role on a whole page takes longer than a press of a key. What was drawn again is looked for again.
  let element = await wanted.elementHandle();
  for (let at = 0; at < MOST_STOPS; at += 1) {
    const state = await element?.evaluate((one) => (one.isConnected ? (one.matches(":focus") ? "focused" : "elsewhere") : "gone"));
    if (state === "focused") {
      expect(await wanted.evaluate((one) => one.matches(":focus-visible"))).toBe(true);
      return;
    }
    if (state !== "elsewhere") element = await wanted.elementHandle();
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

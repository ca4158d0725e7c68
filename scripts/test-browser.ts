/** Gets the browsers for the tests that need one, before they start: several of them at once would get in each other's way. */
import { findChromium } from "../test/harness/browser.ts";

for (const build of ["headless", "whole"] as const) {
  const chromium = findChromium(build);
  if ("missing" in chromium) console.error(`no browser for the tests of the page: ${chromium.missing}`);
}

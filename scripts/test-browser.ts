/** Gets the browser for the tests that need one, before they start: several of them at once would get in each other's way. */
import { findChromium } from "../test/harness/browser.ts";

const chromium = findChromium();
if ("missing" in chromium) console.error(`no browser for the tests of the page: ${chromium.missing}`);

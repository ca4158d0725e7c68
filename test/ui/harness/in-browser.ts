import { describe } from "vitest";
import { findChromium } from "../../harness/browser.ts";

/**
 * A group of tests that need a browser. Where there is none, and none can be installed, they are skipped and the group's name says why; where `CI` is set
 * they fail, so that nobody takes silence for success.
 */
export function describeInBrowser(name: string, tests: () => void): void {
  const chromium = findChromium("headless");
  const reason = "missing" in chromium && !process.env["CI"] ? ` (${chromium.missing})` : "";
  describe.runIf(reason === "")(`${name}${reason}`, () => {
    tests();
  });
}

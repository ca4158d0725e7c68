import { expect, test } from "vitest";
import { browserName } from "../admit.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  ["Firefox on Linux", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"],
  [
    "Safari on iPhone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
  ],
  ["Safari on Mac", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15"],
  ["Firefox on iPad", "Mozilla/5.0 (iPad; CPU OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/145.0 Mobile/15E148 Safari/605.1.15"],
  ["Chrome on Android", `Mozilla/5.0 (Linux; Android 16; Pixel 9) ${WEBKIT} Chrome/143.0.0.0 Mobile Safari/537.36`],
  ["Samsung Internet on Android", `Mozilla/5.0 (Linux; Android 16; SM-S931B) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`],
  ["Edge on Windows", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0`],
  ["Chrome on ChromeOS", `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/143.0.0.0 Safari/537.36`],
  ["Chrome on Linux", `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/143.0.0.0 Safari/537.36`],
])("a browser is called %s by its own words", (name, said) => {
  expect(browserName(said)).toBe(name);
});

test("whatever else is said gives no name, and nothing of it is taken over", () => {
  expect([browserName(undefined), browserName(""), browserName("<b>admin</b>"), browserName("curl/8.14")]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(browserName("Firefox/1 <script> Linux")).toBe("Firefox on Linux");
  expect(browserName(`${"x".repeat(600)} Firefox/1 Linux`)).toBeUndefined();
});

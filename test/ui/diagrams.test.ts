import { readFileSync } from "node:fs";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:diagrams-${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const log = (page: Page): Locator => page.locator("oc-transcript");
const picture = (page: Page): Locator => log(page).locator("oc-diagram .view img");
/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 30_000 };
const fence = (source: string): string => `\`\`\`mermaid\n${source}\n\`\`\``;

const FLOW = "flowchart LR\n  A[Ask] --> B{Known?}\n  B -- yes --> C([Answer])\n  B -- no --> D[(Search)]";

/** Where the picture is that is shown: another one for other colours. */
const addressOf = (page: Page): Promise<string | null> => picture(page).getAttribute("src");

/** The picture as it is saved. */
async function saved(page: Page, name = "Save as SVG"): Promise<Buffer> {
  await log(page).getByRole("button", { name: "Save diagram" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), log(page).getByRole("menuitem", { name }).click()]);
  return readFileSync(await download.path());
}

describeInBrowser("diagrams in an answer", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock" });
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const plan = (steps: readonly object[]): Promise<unknown> => fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(steps) });
  async function answer(page: Page, text: string): Promise<void> {
    await plan([{ say: text }]);
    await box(page).fill("go on");
    await box(page).press("Enter");
    await page.getByRole("button", { name: "Copy answer as Markdown" }).last().waitFor({ state: "attached" });
  }
  /** What the page's policy refused, and what else went wrong in it. */
  function faultsOf(page: Page): readonly string[] {
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error)));
    return faults;
  }

  test("a flowchart is drawn as a picture that has its words, and shows its source on request", async () => {
    const page = await scene.open(session("flow"));
    const faults = faultsOf(page);
    await answer(page, `Here:\n\n${fence(FLOW)}\n\nThat is all.`);
    await picture(page).waitFor();
    expect(await picture(page).getAttribute("alt")).toMatch(/^Flowchart: .*Known\?/);
    expect(await picture(page).evaluate((image) => (image as unknown as { readonly naturalWidth: number }).naturalWidth)).toBeGreaterThan(100);
    expect(await log(page).locator(".code-block").isVisible()).toBe(false);
    await log(page).getByRole("radio", { name: "Source" }).click();
    expect(await log(page).locator(".code-block").innerText()).toContain("B{Known?}");
    await page.reload();
    await picture(page).waitFor();
    expect(faults).toEqual([]);
  });

  test("while its code is written the code is shown; then it is drawn", async () => {
    const page = await scene.open(session("writing"));
    await plan([{ say: fence(FLOW), gap: 150 }]);
    await box(page).fill("slowly");
    await box(page).press("Enter");
    await log(page).locator(".writing .code-block").waitFor();
    expect(await log(page).locator("oc-diagram").count()).toBe(0);
    await picture(page).waitFor(SOON);
  });

  test("it follows light and dark, is saved as SVG and PNG, and opens large", async () => {
    const page = await scene.open(session("save"), { colorScheme: "light", acceptDownloads: true });
    await answer(page, fence(FLOW));
    await picture(page).waitFor();
    const [light, address] = [(await saved(page)).toString(), await addressOf(page)];
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(() => addressOf(page), SOON).not.toBe(address);
    const dark = (await saved(page)).toString();
    expect([light.includes('fill="rgb(255, 255, 255)"'), dark.includes('fill="rgb(18, 18, 21)"')]).toEqual([true, true]);
    for (const svg of [light, dark]) {
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox/);
      expect(svg).not.toMatch(/<style|<script|@import|href=|var\(|="\{/);
    }
    expect([...(await saved(page, "Save as PNG")).subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    await log(page)
      .getByRole("button", { name: /^Flowchart/ })
      .click();
    await page.getByRole("toolbar", { name: "Picture" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("toolbar", { name: "Picture" }).waitFor({ state: "hidden" });
  });

  test("what cannot be drawn stays code, with the reason; lines that are not drawn are named", async () => {
    const page = await scene.open(session("not"));
    await answer(page, `${fence("pie title Pets\n  Dogs : 3")}\n\n${fence("flowchart LR\n  A --> B\n  what is this ???")}`);
    await log(page).getByText("Diagrams of the kind “pie title Pets” are not drawn.").waitFor(SOON);
    expect(await log(page).locator(".code-block").first().isVisible()).toBe(true);
    await log(page).getByText("Line 3 is not drawn: the source has all of it.").waitFor(SOON);
  });

  test("hostile diagrams run nothing, ask no host and leave the page alone", async () => {
    const page = await scene.open(session("hostile"));
    const faults = faultsOf(page);
    const asked: string[] = [];
    page.on("request", (request) => !request.url().startsWith(scene.url) && !/^(?:blob|data):/.test(request.url()) && asked.push(request.url()));
    const hostile = [
      "flowchart LR",
      `  A["<img src=x onerror=alert(1)><script>alert(2)</script>"] --> B["</text></svg><svg onload=alert(3)>"]`,
      `  click A "javascript:alert(4)"`,
      `  click B href "https://example.org/x" _blank`,
      "  style A fill:url(https://example.org/a),stroke:red;background:url(https://example.org/b)",
      '  classDef x fill:#fff"onload="alert(5)',
      "  class B x",
    ].join("\n");
    await answer(page, `%%\n\n${fence(`%%{init: {"themeCSS": "@import url(https://example.org/c)"}}%%\n${hostile}`)}`);
    await picture(page).waitFor(SOON);
    const svg = (await saved(page)).toString();
    expect(svg.replaceAll(/>[^<]*</g, "><")).not.toMatch(/script|img|onload|onerror|href|url\((?!#)|example/);
    expect(asked).toEqual([]);
    expect(faults).toEqual([]);
    expect(await page.locator("script[src*=example]").count()).toBe(0);
  });

  test("one that takes too long is given up, and others are drawn; the page answers all the while", async () => {
    const page = await scene.open(session("endless"));
    // Every node of one half leads to every node of the other: too much work for any layout.
    const half = (name: string): string => Array.from({ length: 28 }, (_, at) => `${name}${at}`).join(" & ");
    await answer(page, `${fence(`flowchart TD\n  ${half("a")} --> ${half("b")}`)}\n\n${fence(FLOW)}`);
    await page.evaluate(() => {
      const view = globalThis as unknown as { longest: number };
      view.longest = 0;
      let last = performance.now();
      setInterval(() => {
        view.longest = Math.max(view.longest, performance.now() - last);
        last = performance.now();
      }, 20);
    });
    await expect.poll(() => log(page).locator("oc-diagram").last().locator(".view img").count(), { timeout: 60_000 }).toBe(1);
    await log(page).locator("oc-diagram").first().getByText("Not drawn: it took too long.").waitFor(SOON);
    expect(await page.evaluate(() => (globalThis as unknown as { readonly longest: number }).longest)).toBeLessThan(2000);
  });
});

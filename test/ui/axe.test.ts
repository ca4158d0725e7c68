import axe from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { PAGE_PATHS } from "./harness/pages.ts";
import { openRichScene } from "./harness/rich.ts";
import { logIn, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

interface Axe {
  run(options: object): Promise<{ readonly violations: readonly Violation[] }>;
}

/** What axe finds serious or critical on the page as it is now, in words. */
async function troubles(page: Page, where: string): Promise<readonly string[]> {
  const violations = await page.evaluate(async () => {
    const inside = globalThis as unknown as { readonly axe: Axe };
    return (await inside.axe.run({ resultTypes: ["violations"] })).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) => nodes.map(({ target, failureSummary }) => `${where}: ${id} (${help}) at ${target.join(" ")}: ${failureSummary ?? ""}`));
}

/** Wide and light, narrow and dark: layouts and colours are independent of each other. */
const LOOKS: readonly { readonly look: string; readonly options: BrowserContextOptions }[] = [
  { look: "wide and light", options: { colorScheme: "light" } },
  { look: "on a phone in the dark", options: { colorScheme: "dark", viewport: { width: 390, height: 844 }, hasTouch: true } },
];

describeInBrowser("accessibility", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openRichScene();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  /** What opens over a page, and how. */
  const openers: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
    "the list of commands": (page) => page.getByRole("textbox", { name: "Message", exact: true }).pressSequentially("/"),
    "the palette": (page) => page.keyboard.press("Control+k"),
  };

  test.each(LOOKS)("no page has a serious fault, $look", { timeout: 90_000 }, async ({ look, options }) => {
    // The page's policy forbids foreign scripts: only this window lets axe in.
    const window = await scene.window({ ...options, bypassCSP: true });
    const page = await window.newPage();
    const found: string[] = [];
    const examine = async (where: string): Promise<void> => {
      await page.evaluate(axe.source);
      found.push(...(await troubles(page, where)));
    };
    await page.goto(scene.url);
    await page.getByLabel(/of the gateway/).waitFor();
    await examine("login");
    await logIn(page);
    for (const path of [...PAGE_PATHS, "jobs/new", "chat/agent%3Amain%3Aweb%3Anotes", "chat/agent%3Amain%3Aweb%3Aempty"]) {
      await page.goto(`${scene.url}/${path}`);
      await page.locator(`oc-${path.replace(/\/.*/, "")}-page`).waitFor();
      await settled(page);
      await examine(path);
    }
    for (const [name, open] of Object.entries(openers)) {
      await page.goto(`${scene.url}/chat/agent%3Amain%3Aweb%3Aempty`);
      await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
      await open(page);
      await page.getByRole("listbox").or(page.getByRole("dialog")).first().waitFor();
      await examine(name);
    }
    expect(found, look).toEqual([]);
    await window.close();
  });
});

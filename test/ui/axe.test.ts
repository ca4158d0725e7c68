import axe from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { PAGE_PATHS } from "./harness/pages.ts";
import { openRichScene } from "./harness/rich.ts";
import { logIn, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";
import { openState, refuseRequests } from "./harness/states.ts";

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

interface Axe {
  run(options: object): Promise<{ readonly violations: readonly Violation[] }>;
}

/** The rules that depend on colours, of those that hold by default. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** What axe finds on the page as it is now, of whatever weight, in words. `rules`: only these. */
async function troubles(page: Page, where: string, rules?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async (only) => {
    const inside = globalThis as unknown as { readonly axe: Axe };
    return (await inside.axe.run({ resultTypes: ["violations"], ...(only === undefined ? {} : { runOnly: { type: "rule", values: only } }) })).violations;
  }, rules);
  return violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${where}: ${impact}: ${id} (${help}) at ${target.join(" ")}: ${failureSummary ?? ""}`),
  );
}

/** Words of badges that begin with a small letter: names, such as those of tools, are in a font of their own. */
async function smallBadges(page: Page, where: string): Promise<readonly string[]> {
  const texts = await page.locator(".badge:not(.mono)").allInnerTexts();
  return texts.filter((text) => /^\p{Ll}/u.test(text.trim())).map((text) => `${where}: ${text}`);
}

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** Every colour with a layout, and high contrast in both colours. */
const LOOKS: readonly { readonly look: string; readonly options: BrowserContextOptions }[] = [
  { look: "wide and light", options: { colorScheme: "light" } },
  { look: "wide and dark", options: { colorScheme: "dark" } },
  { look: "on a phone in the dark", options: { colorScheme: "dark", ...PHONE } },
  { look: "in high contrast, light", options: { colorScheme: "light", contrast: "more" } },
  { look: "in high contrast, dark, on a phone", options: { colorScheme: "dark", contrast: "more", ...PHONE } },
];

/** Pages below pages, and what stands in inspectors. */
const DEEPER = [
  "jobs/new",
  "agents/main",
  "agents/main/tools",
  "agents/main/skills",
  "agents/main/files",
  "skills/invoice-check",
  "skills/invoice-check?file=",
  "skills?add=install",
  "skills?add=new",
  "nodes/office",
  "channels/routing",
  "channels/telegram/default",
  "plugins/telegram",
  "chat/agent%3Amain%3Aweb%3Anotes",
  "chat/agent%3Amain%3Aweb%3Aempty",
];

/** In which every page is examined where nothing is there yet, and where nothing can be had. */
const THEMES: readonly { readonly theme: string; readonly media: Parameters<Page["emulateMedia"]>[0] }[] = [
  { theme: "light", media: { colorScheme: "light", contrast: "no-preference" } },
  { theme: "dark", media: { colorScheme: "dark", contrast: "no-preference" } },
  { theme: "high contrast", media: { colorScheme: "light", contrast: "more" } },
];

async function examinePages(page: Page, url: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of PAGE_PATHS) {
    await page.goto(`${url}/${path}`);
    await page.locator(`oc-${path}-page`).waitFor();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    await settled(page);
    for (const [at, { theme, media }] of THEMES.entries()) {
      await page.emulateMedia(media);
      // The elements are the same in each theme, only their colours differ.
      found.push(...(await troubles(page, `${path}, ${theme}`, at === 0 ? undefined : OF_COLOURS)));
    }
  }
  return found;
}

describeInBrowser("accessibility of pages without data", () => {
  test("where nothing was ever done, no page has a fault", { timeout: 180_000 }, async () => {
    await using scene = await openState("empty");
    const page = await scene.open("chat", { bypassCSP: true });
    expect(await examinePages(page, scene.url)).toEqual([]);
  });

  test("where the gateway refuses everything, no page has a fault", { timeout: 180_000 }, async () => {
    await using scene = await openState("empty");
    const page = await scene.open("chat", { bypassCSP: true });
    await refuseRequests(page);
    expect(await examinePages(page, scene.url)).toEqual([]);
  });
});

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
    "a search in the palette": async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search or run" }).fill("tr");
    },
  };

  test.each(LOOKS)("no page has a fault, $look", { timeout: 180_000 }, async ({ look, options }) => {
    // The page's policy forbids foreign scripts: only this window lets axe in.
    const window = await scene.window({ ...options, bypassCSP: true });
    const page = await window.newPage();
    const found: string[] = [];
    const examine = async (where: string): Promise<void> => void found.push(...(await troubles(page, where)));
    await page.goto(scene.url);
    await page.getByLabel(/of the gateway/).waitFor();
    await examine("login");
    await logIn(page);
    for (const path of [...PAGE_PATHS, ...DEEPER]) {
      await page.goto(`${scene.url}/${path}`);
      await page.locator(`oc-${path.replace(/[/?].*/, "")}-page`).waitFor();
      await settled(page);
      await examine(path);
      found.push(...(await smallBadges(page, path)));
    }
    for (const [name, open] of Object.entries(openers)) {
      await page.goto(`${scene.url}/chat/agent%3Amain%3Aweb%3Aempty`);
      await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
      await open(page);
      await page.getByRole("listbox").or(page.getByRole("dialog")).first().waitFor();
      await examine(name);
    }
    await page.goto(`${scene.url}/logs`);
    await page.getByRole("combobox", { name: "Level" }).click();
    await page.getByRole("listbox").waitFor();
    await examine("an open select");
    await page.keyboard.press("Escape");
    await page.goto(`${scene.url}/agents/main`);
    await page.getByRole("button", { name: "More about this agent" }).click();
    await page.getByRole("menu").waitFor();
    await examine("an open menu");
    expect(found, look).toEqual([]);
    await window.close();
  });
});

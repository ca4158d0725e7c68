import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

describeInBrowser("the page's own controls", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const level = (page: Page): Locator => page.getByRole("combobox", { name: "Level" });
  const active = (page: Page): Locator => page.locator("[role=option].active");
  const shown = async (page: Page): Promise<string> => (await level(page).textContent())!.trim();

  test("a select is used with the keyboard alone: arrows, Home, End, letters, Enter and Escape", async () => {
    const page = await scene.open("logs");
    await level(page).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => active(page).textContent()).toContain("All levels");
    await page.keyboard.press("End");
    await expect.poll(() => active(page).textContent()).toContain("trace and above");
    await page.keyboard.press("Home");
    await page.keyboard.type("err");
    await expect.poll(() => active(page).textContent()).toContain("error and above");
    expect(await level(page).getAttribute("aria-activedescendant")).toBe(await active(page).getAttribute("id"));
    await page.keyboard.press("Enter");
    await page.getByRole("listbox").waitFor({ state: "detached" });
    expect(await shown(page)).toBe("error and above");
    expect(await level(page).evaluate((element) => element.matches(":focus"))).toBe(true);

    await page.keyboard.press("Enter");
    await page.keyboard.press("Home");
    await page.keyboard.press("Escape");
    await page.getByRole("listbox").waitFor({ state: "detached" });
    expect(await shown(page)).toBe("error and above");
  });

  test("a press outside closes a select and changes nothing", async () => {
    const page = await scene.open("logs");
    await level(page).click();
    await page.getByRole("listbox", { name: "Level" }).waitFor();
    await page.getByRole("heading", { name: "Logs" }).click();
    await page.getByRole("listbox").waitFor({ state: "detached" });
    expect(await shown(page)).toBe("All levels");
  });

  test("on a phone a select opens at the foot of the window, with entries for fingers", async () => {
    const page = await scene.open("logs", { viewport: { width: 390, height: 844 }, hasTouch: true });
    await level(page).tap();
    const list = await page.getByRole("listbox", { name: "Level" }).boundingBox();
    expect([list!.x, list!.width, Math.round(list!.y + list!.height)]).toEqual([0, 390, 844]);
    const option = page.getByRole("option", { name: "error and above" });
    expect((await option.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await option.tap();
    expect(await shown(page)).toBe("error and above");
  });

  test("a segmented control moves and chooses with the arrow keys", async () => {
    const window = await scene.window();
    const page = await window.newPage();
    await page.goto(scene.url);
    await page.getByRole("radio", { name: "Token" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByLabel("Password of the gateway").waitFor();
    expect(await page.getByRole("radio", { name: "Password" }).getAttribute("aria-checked")).toBe("true");
    await page.keyboard.press("ArrowRight");
    await page.getByLabel("Token of the gateway").waitFor();
  });
});

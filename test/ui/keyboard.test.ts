import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { tabTo } from "./harness/keyboard.ts";
import { openScene, type Scene } from "./harness/scene.ts";

describeInBrowser("the keyboard alone", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("go to a page with the palette and turn a plugin on and off", async () => {
    const page = await scene.open("overview");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).waitFor();
    await page.keyboard.type("plugins connections");
    await page.getByRole("option", { name: /^Plugins/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/plugins$/);
    const plugin = page.getByRole("switch", { name: "Audit log" });
    await tabTo(page, plugin);
    await page.keyboard.press("Space");
    await expect.poll(() => plugin.getAttribute("aria-checked"), { timeout: 20_000 }).toBe("true");
    await tabTo(page, plugin);
    await page.keyboard.press("Space");
    await expect.poll(() => plugin.getAttribute("aria-checked"), { timeout: 20_000 }).toBe("false");
  });

  test("go through the rows of a table, open one in the inspector, and close it", async () => {
    const page = await scene.open("plugins");
    await tabTo(page, page.getByRole("link", { name: "Audit log" }));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/plugins\/.+/);
    await tabTo(page, page.getByRole("button", { name: "Close details" }));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/plugins$/);
  });

  test("the menu of an agent opens, moves and closes, and the focus returns to its button", async () => {
    const page = await scene.open("agents/main");
    const button = page.getByRole("button", { name: "More about this agent" });
    await tabTo(page, button);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("menuitem", { name: "Memory" }).evaluate((element) => element.matches(":focus"))).toBe(true);
    await page.keyboard.press("End");
    await expect
      .poll(() =>
        page
          .getByRole("menuitem")
          .last()
          .evaluate((element) => element.matches(":focus")),
      )
      .toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(await button.evaluate((element) => element.matches(":focus"))).toBe(true);
  });

  test("a question that is answered by its button gives the focus back", async () => {
    const page = await scene.open("agents");
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Helper");
    await page.getByLabel(/^Workspace/).fill(join(scene.place.home, "helper"));
    await page.getByRole("button", { name: "Create" }).click();
    await page.waitForURL(/\/agents\/helper$/);
    const more = page.getByRole("button", { name: "More about this agent" });
    await tabTo(page, more);
    await page.keyboard.press("Enter");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    const sure = page.getByRole("dialog", { name: "Delete Helper?" });
    await sure.getByRole("button", { name: "Cancel" }).press("Enter");
    await sure.waitFor({ state: "detached" });
    await expect.poll(() => more.evaluate((element) => element.matches(":focus"))).toBe(true);
  });

  test("closing what stands beside a table gives the focus back to its row", async () => {
    const page = await scene.open("plugins");
    const row = page.getByRole("link", { name: "Audit log" });
    await tabTo(page, row);
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("button", { name: "Close details" }));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/plugins$/);
    await expect.poll(() => row.evaluate((element) => element.matches(":focus"))).toBe(true);
  });

  test("what is written in a file of one agent is not shown or saved as another's", async () => {
    const page = await scene.open("agents");
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Scribe");
    await page.getByLabel(/^Workspace/).fill(join(scene.place.home, "scribe"));
    await page.getByRole("button", { name: "Create" }).click();
    await page.waitForURL(/\/agents\/scribe$/);
    await page.goto(`${scene.url}/agents/main/files`);
    const text = page.locator("oc-agent-files textarea");
    await text.fill("only for main");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill("scribe");
    await page.getByRole("option", { name: /^Scribe/ }).waitFor();
    await page.keyboard.press("Tab");
    await page.getByRole("option", { name: "Files" }).click();
    await page.waitForURL(/\/agents\/scribe\/files$/);
    await text.waitFor();
    expect(await text.inputValue()).not.toBe("only for main");
    await page.goto(`${scene.url}/agents/main/files`);
    await expect.poll(() => text.inputValue()).toBe("only for main");
  });
});

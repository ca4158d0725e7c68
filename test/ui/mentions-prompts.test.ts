import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:help-${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const option = (page: Page, name?: string | RegExp): Locator => page.locator("oc-composer #choices").getByRole("option", name === undefined ? {} : { name });
const dialog = (page: Page): Locator => page.getByRole("dialog", { name: "Prompts" });
/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 15_000 };

/** What is selected in the box. */
const selected = (page: Page): Promise<string> =>
  box(page).evaluate((area) => {
    const { value, selectionStart, selectionEnd } = area as unknown as {
      readonly value: string;
      readonly selectionStart: number;
      readonly selectionEnd: number;
    };
    return value.slice(selectionStart, selectionEnd);
  });

describeInBrowser("mentions and prompts", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock", config: { agents: { list: [{ id: "main" }, { id: "work", name: "Ada at work" }] } } });
    mkdirSync(join(scene.workspace, "notes/2026"), { recursive: true });
    for (const path of ["notes/2026/plan.md", "notes/my plan.txt", ".hidden-plan"]) writeFileSync(join(scene.workspace, path), "the plan\n");
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("@ offers files of the workspace and agents; the keyboard takes one and the message has its path", async () => {
    const page = await scene.open(session("files"));
    await box(page).pressSequentially("look at @plan");
    await option(page, /plan\.md/).waitFor();
    expect(await page.getByRole("listbox", { name: "Files and agents" }).count()).toBe(1);
    expect(await option(page).allInnerTexts()).toEqual([expect.stringContaining("plan.md"), expect.stringContaining("my plan.txt")]);
    expect(await box(page).getAttribute("aria-activedescendant")).toBe("choice-0");
    await box(page).press("ArrowDown");
    await box(page).press("Tab");
    expect(await box(page).inputValue()).toBe('look at "@notes/my plan.txt" ');
    await box(page).pressSequentially("and ask @ad");
    await option(page, /Ada at work/).click();
    expect(await box(page).inputValue()).toBe('look at "@notes/my plan.txt" and ask Ada at work ');
    expect(await option(page).count()).toBe(0);
  });

  test("the agent opens what was mentioned with its read tool", async () => {
    const page = await scene.open(session("read"));
    await box(page).pressSequentially("read @2026/pl");
    await option(page, /plan\.md/).waitFor();
    await box(page).press("Enter");
    const text = (await box(page).inputValue()).trim();
    expect(text).toBe("read @notes/2026/plan.md");
    await fetch(`${scene.modelUrl}/next`, {
      method: "POST",
      body: JSON.stringify([{ tool: "read", args: JSON.stringify({ path: text.slice(5) }) }, { say: "Read it." }]),
    });
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("Read it.").waitFor();
    await page
      .locator("oc-transcript")
      .getByRole("button", { name: /1 step/ })
      .click();
    await page.locator("oc-transcript .tool").getByRole("button", { name: /Read/ }).click();
    await page.locator("oc-transcript .tool").getByText("the plan").waitFor();
  });

  test("Escape leaves the text as it is, and an address of mail offers nothing", async () => {
    const page = await scene.open(session("plain"));
    await box(page).pressSequentially("to @pl");
    await option(page).first().waitFor();
    await box(page).press("Escape");
    await expect.poll(() => option(page).count(), SOON).toBe(0);
    await box(page).pressSequentially("an");
    await page.waitForTimeout(400);
    expect([await option(page).count(), await box(page).inputValue()]).toEqual([0, "to @plan"]);
    await box(page).fill("");
    await box(page).pressSequentially("mail ada@plan");
    await page.waitForTimeout(400);
    expect(await option(page).count()).toBe(0);
  });

  test("a prompt is saved from the box, inserted from / in another browser, and its placeholders are gone through with Tab", async () => {
    const page = await scene.open(session("prompt"));
    await box(page).fill("Report on {project} for {reader}, in short.");
    await page.getByRole("button", { name: "Prompts" }).click();
    await dialog(page).getByRole("button", { name: "Save message as prompt" }).click();
    await dialog(page).getByLabel("Name").fill("Weekly report");
    await dialog(page).getByRole("button", { name: "Save", exact: true }).click();
    await dialog(page)
      .getByRole("button", { name: /^Weekly report/ })
      .waitFor();
    const other = await scene.open(session("prompt-2"));
    await box(other).pressSequentially("/week");
    await option(other, /Weekly report/).waitFor();
    await box(other).press("Tab");
    await expect.poll(() => selected(other), SOON).toBe("{project}");
    await other.keyboard.type("Alpha");
    await box(other).press("Tab");
    expect(await selected(other)).toBe("{reader}");
    await other.keyboard.type("Mara");
    expect(await box(other).inputValue()).toBe("Report on Alpha for Mara, in short.");
    await box(other).press("Tab");
    expect(await box(other).evaluate((area) => area.matches(":focus"))).toBe(false);
  });

  test("a prompt is reached from the palette, changed, deleted and brought back", async () => {
    const page = await scene.open(session("palette"));
    await box(page).waitFor();
    const put = async (name: string, text: string): Promise<void> => {
      await page.getByRole("button", { name: "Prompts" }).click();
      await dialog(page).getByRole("button", { name: "New prompt" }).click();
      await dialog(page).getByLabel("Name").fill(name);
      await dialog(page).getByLabel("Text").fill(text);
      await dialog(page).getByRole("button", { name: "Save", exact: true }).click();
      await dialog(page)
        .getByRole("button", { name: new RegExp(`^${name}`) })
        .waitFor();
    };
    await put("Ask why", "Why is that so?");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill("insert ask");
    await page.getByRole("option", { name: /Insert prompt Ask why/ }).click();
    await expect.poll(() => box(page).inputValue(), SOON).toBe("Why is that so?");
    expect(page.url()).not.toContain("prompts");
    await page.getByRole("button", { name: "Prompts" }).click();
    await dialog(page).getByRole("button", { name: "Edit Ask why" }).click();
    await dialog(page).getByLabel("Text").fill("Why not?");
    await dialog(page).getByRole("button", { name: "Save", exact: true }).click();
    await dialog(page).getByText("Why not?").waitFor();
    await dialog(page).getByRole("button", { name: "Delete Ask why" }).click();
    await dialog(page).getByRole("button", { name: "Undo" }).click();
    await dialog(page).getByText("Why not?").waitFor();
    await dialog(page).getByLabel("Search prompts").fill("ask");
    await dialog(page)
      .getByRole("button", { name: /^Ask why/ })
      .click();
    await expect.poll(() => box(page).inputValue(), SOON).toBe("Why is that so?\n\nWhy not?");
  });

  test("a message is saved as a prompt; a name that is taken is refused with what to do", async () => {
    const page = await scene.open(session("message"));
    await box(page).fill("Say it in one line");
    await box(page).press("Enter");
    await page.getByRole("button", { name: "Copy answer as Markdown" }).last().waitFor({ state: "attached" });
    await page.locator("oc-transcript .said").last().hover();
    await page.locator("oc-transcript").getByRole("button", { name: "Save as prompt" }).click();
    await expect.poll(() => dialog(page).getByLabel("Text").inputValue(), SOON).toBe("Say it in one line");
    await dialog(page).getByLabel("Name").fill("One line");
    await dialog(page).getByRole("button", { name: "Save", exact: true }).click();
    await dialog(page)
      .getByRole("button", { name: /^One line/ })
      .waitFor();
    await dialog(page).getByRole("button", { name: "New prompt" }).click();
    await dialog(page).getByLabel("Name").fill("ONE LINE");
    await dialog(page).getByLabel("Text").fill("Again");
    await dialog(page).getByRole("button", { name: "Save", exact: true }).click();
    await dialog(page).getByRole("alert").getByText("choose another name").waitFor();
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { logIn, openScene, type Scene } from "./harness/scene.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:parts-${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const log = (page: Page): Locator => page.locator("oc-transcript");
const queue = (page: Page): Locator => page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
const attached = (page: Page): Locator => page.getByRole("list", { name: "Attached" }).getByRole("listitem");
const stop = (page: Page): Locator => page.getByRole("button", { name: "Stop", exact: true });
/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 15_000 };
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

interface Transfer {
  setData(type: string, data: string): void;
  readonly items: { add(file: File): void };
}

/** What the page has for pasting and dropping. */
interface Transfers {
  readonly DataTransfer: new () => Transfer;
  readonly ClipboardEvent: new (name: string, options: object) => Event;
  readonly DragEvent: new (name: string, options: object) => Event;
}

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press("Enter");
}

describeInBrowser("the parts of a chat", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock", config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } });
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const plan = (steps: readonly object[]): Promise<unknown> => fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(steps) });
  const answer = async (page: Page, text: string): Promise<void> => {
    await plan([{ say: text }]);
    await say(page, "go on");
    await page.getByRole("button", { name: "Copy answer as Markdown" }).last().waitFor({ state: "attached" });
  };

  test("messages that wait are listed above the box; one is removed, one comes back to be edited", async () => {
    const page = await scene.open(session("queue"));
    await say(page, "long @chunks=600 @gap=25");
    await log(page).getByText("w3").first().waitFor();
    await say(page, "the first that waits");
    await say(page, "the second that waits");
    await expect.poll(() => queue(page).allInnerTexts(), SOON).toEqual([expect.stringContaining("first"), expect.stringContaining("second")]);
    expect(await log(page).getByText("that waits").count()).toBe(0);
    await queue(page).first().getByRole("button", { name: "Remove queued message" }).click();
    await expect.poll(() => queue(page).count(), SOON).toBe(1);
    await queue(page).first().getByRole("button", { name: "Edit queued message" }).click();
    await expect.poll(() => box(page).inputValue(), SOON).toBe("the second that waits");
    await expect.poll(() => queue(page).count(), SOON).toBe(0);
    await stop(page).click();
    await stop(page).waitFor({ state: "detached" });
    await page.reload();
    await log(page).getByText("w3").first().waitFor();
    expect(await log(page).getByText("that waits").count()).toBe(0);
  });

  test("what waited behind an answer that is stopped comes back where it was written, with its files, though another chat is open by then", async () => {
    const page = await scene.open(session("left"));
    await say(page, "long @chunks=600 @gap=25");
    await log(page).getByText("w3").first().waitFor();
    await page.locator("oc-composer input[type=file]").setInputFiles([{ name: "dot.png", mimeType: "image/png", buffer: PNG }]);
    await attached(page).waitFor();
    await say(page, "waits with a picture");
    await expect.poll(() => queue(page).count(), SOON).toBe(1);
    await stop(page).click();
    await page.getByText("They are back in the box.").waitFor();
    expect(await box(page).inputValue()).toBe("waits with a picture");
    expect(await attached(page).count()).toBe(1);
    await attached(page)
      .getByRole("button", { name: /^Remove/ })
      .click();

    await box(page).fill("");
    await say(page, "long again @chunks=600 @gap=25");
    await stop(page).waitFor();
    await say(page, "waits and is left");
    await expect.poll(() => queue(page).count(), SOON).toBe(1);
    // The gateway's answer to the stop comes when the other chat is open.
    await stop(page).click();
    await page.keyboard.press("Control+Shift+O");
    await page.getByText("in the box of the conversation").waitFor();
    expect(await box(page).inputValue()).toBe("");
    await page.goto(`${scene.url}/${session("left")}`);
    await expect.poll(() => box(page).inputValue(), SOON).toBe("waits and is left");
  });

  test("Escape closes what lies over the chat and stops no answer; the focus returns to where it was", async () => {
    const page = await scene.open(session("escape"));
    await say(page, "long @chunks=600 @gap=25");
    await log(page).getByText("w3").first().waitFor();
    const more = page.getByRole("button", { name: "More about this conversation" });
    await more.click();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await keys.waitFor();
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });
    await more.click();
    await page.getByRole("button", { name: "Reset", exact: true }).click();
    const sure = page.getByRole("dialog", { name: /^Reset/ });
    await sure.getByText("The current run stops").click();
    await page.keyboard.press("Escape");
    await sure.waitFor({ state: "detached" });
    const about = page.getByRole("button", { name: /^Actions for/ }).first();
    await about.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(await about.evaluate((element) => element.matches(":focus"))).toBe(true);
    expect(await stop(page).count()).toBe(1);
    await box(page).focus();
    await page.keyboard.press("Escape");
    await stop(page).waitFor({ state: "detached" });
  });

  test("a message that waits is sent into the running answer, which takes it in", async () => {
    const page = await scene.open(session("steer"));
    const command = "while [ ! -e steer-on ]; do sleep 0.02; done; echo went on";
    await plan([{ tool: "exec", args: JSON.stringify({ command }) }, { say: "Both are done." }]);
    await say(page, "do one thing");
    await log(page).locator(".tool.running").waitFor();
    await say(page, "and another thing");
    await queue(page).getByRole("button", { name: "Send now" }).click();
    writeFileSync(join(scene.workspace, "steer-on"), "");
    await log(page).getByText("Both are done.").waitFor();
    await log(page).getByText("and another thing").waitFor();
    await stop(page).waitFor({ state: "detached" });
    expect(await queue(page).count()).toBe(0);
    expect(await log(page).getByText("Both are done.").count()).toBe(1);
  });

  test("an answer says how many steps it took and shows them on request; a change of a file is a diff", async () => {
    const page = await scene.open(session("steps"));
    writeFileSync(join(scene.workspace, "script.sh"), "one\ntwo\nthree\n");
    await plan([
      { tool: "read", args: JSON.stringify({ path: "script.sh" }) },
      { tool: "edit", args: JSON.stringify({ path: "script.sh", oldText: "two", newText: "2\n2.5" }) },
      { say: "Changed it." },
    ]);
    await say(page, "change the script");
    await log(page).getByText("Changed it.").waitFor();
    await stop(page).waitFor({ state: "detached" });
    const steps = log(page).locator(".tool");
    await expect.poll(() => steps.count(), SOON).toBe(1);
    await log(page)
      .getByRole("button", { name: /2 steps/ })
      .click();
    await expect.poll(() => steps.count(), SOON).toBe(2);
    expect(await steps.nth(0).innerText()).toContain("Read");
    expect((await steps.nth(1).innerText()).replaceAll(/\s+/g, " ")).toContain("Edited script.sh +2 −1");
    await steps
      .nth(1)
      .getByRole("button", { name: /Edited/ })
      .click();
    const change = steps.nth(1).getByRole("group", { name: "Change" });
    expect([await change.locator(".d.added").count(), await change.locator(".d.removed").allInnerTexts()]).toEqual([2, [expect.stringContaining("two")]]);
  });

  test("a table is sorted by its columns, long code is folded, a footnote is marked, a formula is drawn", async () => {
    const page = await scene.open(session("markdown"));
    const code = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
    await answer(page, `Sizes[^1], with $x^2$:\n\n| Name | GB |\n| --- | ---: |\n| b | 96 |\n| a | 412 |\n\n\`\`\`\n${code}\n\`\`\`\n\n[^1]: Measured.`);
    const names = (): Promise<string[]> => log(page).locator("tbody tr td:first-child").allInnerTexts();
    expect(await names()).toEqual(["b", "a"]);
    await log(page).getByRole("button", { name: "Name" }).click();
    expect(await names()).toEqual(["a", "b"]);
    await log(page).getByRole("button", { name: "GB" }).click();
    expect(await names()).toEqual(["b", "a"]);
    const block = log(page).locator(".code-block");
    const folded = (await block.boundingBox())!.height;
    await log(page).getByRole("button", { name: "Show all 60 lines" }).click();
    await expect.poll(async () => (await block.boundingBox())!.height, SOON).toBeGreaterThan(folded + 200);
    await log(page).getByRole("button", { name: "Footnote 1" }).waitFor();
    await log(page).locator(".footnote").getByText("Measured.").waitFor();
    await log(page).locator("oc-math math msup").waitFor();
  });

  test("the colours of code are loaded with the first block of it; folded code has only the lines that are seen in the page", async () => {
    const page = await scene.open(session("code"));
    const colours = (): Promise<readonly string[]> =>
      page.evaluate(() => performance.getEntriesByType("resource").flatMap(({ name }) => (name.includes("/colours-") ? [name] : [])));
    await answer(page, "No code here.");
    expect(await colours()).toEqual([]);
    const code = Array.from({ length: 900 }, (_, at) => `let x${at};`).join("\n");
    await answer(page, `Here:\n\n\`\`\`ts\n${code}\n\`\`\`\n`);
    const block = log(page).locator(".code-block");
    await block.locator(".keyword").first().waitFor();
    expect(await colours()).toHaveLength(1);
    await expect.poll(() => block.locator(".keyword").count(), SOON).toBeLessThanOrEqual(40);
    await page.getByRole("button", { name: "Show all 900 lines" }).click();
    await expect.poll(() => block.locator(".keyword").count(), SOON).toBe(900);
    // What is out of view is not laid out.
    const isLaidOut = (part: unknown): boolean => (part as { checkVisibility(of: object): boolean }).checkVisibility({ contentVisibilityAuto: true });
    const laidOut = (): Promise<readonly boolean[]> =>
      Promise.all(Array.from({ length: 9 }, (_, at) => block.locator(".code-part").nth(at).locator(".keyword").first().evaluate(isLaidOut)));
    await expect.poll(laidOut, SOON).toContain(false);
    await page.getByRole("button", { name: "Show less" }).click();
    await expect.poll(() => block.locator(".keyword").count(), SOON).toBeLessThanOrEqual(40);
  });

  test("a browser that shares files is offered to share an answer", async () => {
    const page = await (await scene.window()).newPage();
    await page.addInitScript(() => {
      const shared: { readonly name: string; readonly type: string }[] = [];
      Object.assign(navigator, {
        canShare: () => true,
        share: (what: { readonly files: readonly File[] }) => Promise.resolve(void shared.push(...what.files)),
      });
      Object.assign(globalThis, { shared });
    });
    await page.goto(`${scene.url}/${session("share")}`);
    await logIn(page);
    await answer(page, "Share these words.");
    await log(page).locator(".answer").last().hover();
    await log(page).getByRole("button", { name: "Share answer" }).click();
    const text = (): Promise<string> =>
      page.evaluate(async () => {
        const [file] = (globalThis as unknown as { readonly shared: readonly File[] }).shared;
        return file ? `${file.name} ${await file.text()}` : "";
      });
    await expect.poll(text, SOON).toBe("share-these-words.txt Share these words.");
  });

  test("a formula that cannot be read or asks for more than formulas stays text, and nothing of it runs", async () => {
    const page = await scene.open(session("hostile"));
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    await answer(
      page,
      "One $\\href{javascript:alert(1)}{x}$, $\\frac{1$, $\\includegraphics{https://example.org/a.png}$ and $\\def\\a{\\a\\a}\\a$. And $y_1$.",
    );
    await log(page).locator("oc-math math msub").waitFor();
    expect(await log(page).locator("oc-math a, oc-math img").count()).toBe(0);
    expect(await log(page).locator("oc-math [href], oc-math [src]").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("a long text that is pasted becomes a file, and files can be dropped anywhere on the chat", async () => {
    const page = await scene.open(session("paste"));
    await box(page).waitFor();
    await box(page).evaluate((area) => {
      const { DataTransfer, ClipboardEvent } = globalThis as unknown as Transfers;
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "word ".repeat(2000));
      (area as unknown as EventTarget).dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }));
    });
    await expect.poll(() => attached(page).allInnerTexts(), SOON).toEqual([expect.stringContaining("pasted-text.txt")]);
    expect(await box(page).inputValue()).toBe("");
    await log(page)
      .or(page.locator("oc-greeting"))
      .evaluate((over) => {
        const { DataTransfer, DragEvent } = globalThis as unknown as Transfers;
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
        (over as unknown as EventTarget).dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true, composed: true }));
      });
    await expect.poll(() => attached(page).count(), SOON).toBe(2);
  });

  test("a picture opens over the page, is made larger with the keyboard, and Escape closes it", async () => {
    const page = await scene.open(session("picture"));
    await page.locator("oc-composer input[type=file]").setInputFiles([{ name: "dot.png", mimeType: "image/png", buffer: PNG }]);
    await attached(page).waitFor();
    await say(page, "look @say=a dot");
    await page.getByRole("button", { name: "Show full picture" }).click();
    const viewer = page.getByRole("dialog", { name: "Picture" });
    await viewer.waitFor();
    await page.keyboard.press("+");
    await viewer.getByText("140%").waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "hidden" });
  });
});

/** More than people write: 10,000 lines of code in an answer, and a paste of five megabytes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectInTime } from "../harness/in-time.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const LINES = 10_000;
const CODE = Array.from({ length: LINES }, (_, at) => `const line${at} = ${at};`).join("\n");
const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:large-${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const answer = (page: Page): Locator => page.getByRole("group", { name: "Answer" }).last();
const attached = (page: Page): Locator => page.getByRole("list", { name: "Attached" }).getByRole("listitem");
const SOON = { timeout: 20_000 };

interface Pasting {
  readonly DataTransfer: new () => { setData(type: string, text: string): void };
  readonly ClipboardEvent: new (type: string, init: object) => Event;
}

/** Pastes a text that the page makes itself: so much is slow to hand over. */
const paste = (page: Page, line: string, times: number): Promise<void> =>
  box(page).evaluate(
    (area, { text, count }) => {
      const { DataTransfer, ClipboardEvent } = globalThis as unknown as Pasting;
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text.repeat(count));
      (area as unknown as EventTarget).dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }));
    },
    { text: line, count: times },
  );

describeInBrowser("large input", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock" });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  function received(name: RegExp): readonly string[] {
    const folder = join(scene.place.stateDir, "media", "inbound");
    return (existsSync(folder) ? readdirSync(folder) : []).filter((file) => name.test(file)).map((file) => readFileSync(join(folder, file), "utf8"));
  }

  test("10,000 lines of code in an answer: one can write meanwhile, they are folded, and copying and saving give all of them", async () => {
    const page = await scene.open(session("code"), { permissions: ["clipboard-read", "clipboard-write"] });
    const say = `Here it is:\n\n\`\`\`ts\n${CODE}\n\`\`\`\n\nThat is all of it.`;
    await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify([{ say }]) });
    await box(page).fill("write it");
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("Here it is:").first().waitFor();
    const began = performance.now();
    await box(page).fill("written meanwhile");
    expectInTime(performance.now() - began, 3000, "the box does not take text while the code comes in");
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    await answer(page)
      .getByRole("button", { name: /^Show all [\d,.]+ lines$/ })
      .waitFor();
    await answer(page).getByText("Too long to show in full. Copying it and saving it as a file use the full text.").waitFor();
    expect(await box(page).inputValue()).toBe("written meanwhile");

    await answer(page).hover();
    await answer(page).getByRole("button", { name: "Copy answer as Markdown" }).click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()"), SOON).toBe(say);
    const [download] = await Promise.all([page.waitForEvent("download"), answer(page).getByRole("button", { name: "Save answer as file" }).click()]);
    expect(readFileSync(await download.path(), "utf8").trim()).toBe(say);

    const reloaded = performance.now();
    await page.reload();
    await answer(page)
      .getByRole("button", { name: /^Show all/ })
      .click();
    expectInTime(performance.now() - reloaded, 5000, "the conversation opens too slowly");
    await answer(page).getByText("const line40 = 40;").waitFor();
    expect(await box(page).inputValue()).toBe("written meanwhile");
  });

  test("a paste of five megabytes becomes a file, is sent whole, and leaves what is written alone", async () => {
    const page = await scene.open(session("paste"));
    await box(page).fill("what is in it?");
    const began = performance.now();
    await paste(page, "0123456789abcde\n", 300_000);
    await attached(page).getByText("pasted-text.txt").waitFor();
    expectInTime(performance.now() - began, 5000, "the paste takes too long");
    expect(await box(page).inputValue()).toBe("what is in it?");
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("what is in it?").waitFor();
    await expect.poll(() => received(/^pasted-text/).map((text) => text.length), SOON).toEqual([4_800_000]);
    expect(received(/^pasted-text/)[0]).toBe("0123456789abcde\n".repeat(300_000));
    await answer(page).waitFor();
  });

  test("a paste over the limit is refused with its size and the limit, and what is written stays", async () => {
    const page = await scene.open(session("refused"));
    await box(page).fill("and this?");
    await paste(page, "0123456789abcde\n", 340_000);
    const note = page.getByRole("alert").filter({ hasText: "pasted-text.txt" });
    await note.waitFor();
    expect(await note.innerText()).toMatch(/pasted-text\.txt is 5\.4 MB; the limit is 5(?:\.0)? MB per file\./);
    expect([await box(page).inputValue(), await attached(page).count()]).toEqual(["and this?", 0]);
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("and this?").waitFor();
  });
});

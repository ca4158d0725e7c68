import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock", config: { cron: { maxConcurrentRuns: 2 } } });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const area = (page: Page) => page.getByRole("textbox", { name: "Configuration as JSON5" });
const options = (page: Page) => page.getByRole("listbox").getByRole("option");
const marked = (page: Page) => page.getByRole("option", { selected: true });

async function open(path = "config?view=text"): Promise<Page> {
  const page = await scene.open(path);
  await area(page).and(page.locator("[aria-autocomplete]")).waitFor();
  return page;
}

/** What is used of the text area in the browser. */
interface TextBox extends EventTarget {
  value: string;
  readonly selectionStart: number;
  focus(): void;
  setSelectionRange(start: number, end: number): void;
}

/** Replaces the text, and puts the cursor where `|` stands. */
async function write(page: Page, text: string): Promise<void> {
  await area(page).evaluate(
    (element, { value, at }) => {
      const box = element as unknown as TextBox;
      box.focus();
      // As pasted: typing thousands of lines takes the browser half a minute.
      box.value = value;
      box.dispatchEvent(new Event("input", { bubbles: true }));
      box.setSelectionRange(at, at);
    },
    { value: text.replace("|", ""), at: text.indexOf("|") },
  );
}

/** The text, with `|` at the cursor. */
const written = (page: Page): Promise<string> =>
  area(page).evaluate((element) => {
    const { value, selectionStart } = element as unknown as TextBox;
    return `${value.slice(0, selectionStart)}|${value.slice(selectionStart)}`;
  });

test("keys and values of the real schema are chosen with the keyboard, put in as JSON5, and taken back with one undo", async () => {
  const page = await open();
  await write(page, "{\n  gateway: {\n    port: 18789,\n    |\n  },\n}\n");
  await page.keyboard.press("Control+Space");
  await options(page).first().waitFor();
  expect(await options(page).allInnerTexts()).not.toContainEqual(expect.stringMatching(/^port\b/));
  await page.keyboard.type("bi");
  await expect.poll(() => marked(page).innerText()).toMatch(/^bind/);
  expect(await area(page).getAttribute("aria-activedescendant")).toBe(await marked(page).getAttribute("id"));
  await page.keyboard.press("Enter");
  expect(await written(page)).toContain("    bind: |,\n  },");
  await expect.poll(() => options(page).allInnerTexts()).toEqual(expect.arrayContaining([expect.stringMatching(/"loopback"/)]));
  await page.keyboard.type("lo");
  await page.keyboard.press("Tab");
  expect(await written(page)).toContain('    bind: "loopback"|,\n  },');
  expect(await options(page).count()).toBe(0);
  expect(await area(page).getAttribute("aria-activedescendant")).toBeNull();
  await page.keyboard.press("Control+z");
  expect((await written(page)).replace("|", "")).toContain("bind: lo,");
});

test("agents and models that the gateway knows are offered where one is named", async () => {
  const page = await open();
  await write(page, "{ agents: { defaults: { model: { primary: | } } } }");
  await page.keyboard.press("Control+Space");
  await options(page).filter({ hasText: '"mock/m1"' }).waitFor();
  await write(page, "{ bindings: [{ agentId: | }] }");
  await page.keyboard.press("Control+Space");
  await options(page).filter({ hasText: '"main"' }).click();
  expect(await written(page)).toBe('{ bindings: [{ agentId: "main"| }] }');
});

test("Ctrl+I and the pointer describe a key with type, default and what restarts; Escape closes", async () => {
  const page = await open();
  await write(page, "{\n  gateway: {\n    po|rt: 18789,\n  },\n  cron: { maxConcurrentRuns: 2 },\n}\n");
  await page.keyboard.press("Control+i");
  const card = page.locator("oc-json-editor .assist.card");
  await card.getByText("Port it listens on.").waitFor();
  await card.getByText("The gateway restarts.").waitFor();
  await page.getByRole("status").filter({ hasText: "gateway.port. Port it listens on" }).waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });
  const box = (await area(page).boundingBox())!;
  // The fifth line, in the middle of the second word.
  await page.mouse.move(box.x + 10 + 20 * 7.5, box.y + 8 + 4 * 20 + 10, { steps: 3 });
  await card.getByText("cron.maxConcurrentRuns").waitFor();
  await card.getByText("Scheduled jobs are rescheduled.").waitFor();
});

test("in a broken text of 5,000 lines the list opens in the object that the cursor is in", async () => {
  const page = await open();
  const entry = (at: number): string => `      {\n        id: "agent-${at}",\n        name: "Agent ${at}",\n        workspace: "~/agents/${at}",\n      },\n`;
  const text = `{\n  agents: {\n    list: [\n${Array.from({ length: 1000 }, (_, at) => entry(at)).join("")}    ],\n  gateway: {\n    |\n  },\n}\n`;
  await write(page, text);
  await page.keyboard.press("Control+Space");
  await options(page).getByText("bind", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.type("mo");
  await expect.poll(() => marked(page).innerText()).toMatch(/^mode/);
});

test("what a plugin, a name or a value could bring is drawn as text", async () => {
  const page = await open();
  const hostile = '<img src=x onerror="window.hurt = 1">';
  await write(page, `{ agents: { list: [{ id: ${JSON.stringify(hostile)} }] }, bindings: [{ agentId: "main" }] }`);
  await area(page).evaluate((element) => {
    const box = element as unknown as TextBox;
    const at = box.value.indexOf('"main"') + 1;
    box.setSelectionRange(at, at);
  });
  await page.keyboard.press("Control+Space");
  await options(page).filter({ hasText: "onerror" }).waitFor();
  expect(await page.evaluate(() => (globalThis as { hurt?: unknown }).hurt)).toBeUndefined();
  expect(await page.locator("oc-json-editor .assist img").count()).toBe(0);
  expect(readFileSync(scene.place.configPath, "utf8")).not.toContain("onerror");
});

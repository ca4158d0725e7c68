/** Two tabs of one browser that edit the same: neither overwrites the other, and neither loses what it wrote. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

interface Config {
  readonly cron?: { readonly maxConcurrentRuns?: number; readonly enabled?: boolean };
  readonly ui?: { readonly seamColor?: string };
}

const SOON = { timeout: 20_000 };

describeInBrowser("two tabs", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({
      config: { cron: { maxConcurrentRuns: 2 }, ui: { seamColor: "#112233" } },
      prepare(_, workspace) {
        mkdirSync(join(workspace, "memory"), { recursive: true });
        writeFileSync(join(workspace, "MEMORY.md"), "# People\n");
        writeFileSync(join(workspace, "SOUL.md"), "Be kind.\n");
      },
    });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const config = (): Config => JSON.parse(readFileSync(scene.place.configPath, "utf8")) as Config;
  const inWorkspace = (name: string): string => readFileSync(join(scene.workspace, name), "utf8");
  const runs = (page: Page): Locator => page.getByRole("textbox", { name: "Max concurrent runs" });
  const valid = (page: Page): Promise<void> => page.getByText("Valid", { exact: true }).waitFor();
  const saveNote = (page: Page): Promise<void> => page.getByRole("button", { name: "Save", exact: true }).click();

  async function tabs(path: string, other = path): Promise<readonly [Page, Page]> {
    const one = await scene.open(path);
    const two = await one.context().newPage();
    await two.goto(`${scene.url}/${other}`);
    return [one, two];
  }

  async function save(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Review", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  }

  async function saved(page: Page): Promise<void> {
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("status").getByText("Saved", { exact: true }).first().waitFor();
  }

  test("the configuration: the second to save is shown what the first changed, and merges; a key that both changed is named", async () => {
    const [one, two] = await tabs("config?section=cron", "config?view=text");
    const text = two.getByRole("textbox", { name: "Configuration as JSON5" });
    const color = config().ui?.seamColor;
    const written = await text.inputValue();
    await text.fill(written.replace(/"seamColor": "#\w+"/, '"seamColor": "#445566"').replace(/"maxConcurrentRuns": \d+/, '"maxConcurrentRuns": 4'));
    await valid(two);
    await runs(one).fill("9");
    await valid(one);
    await save(one);
    await saved(one);
    expect(config()).toMatchObject({ cron: { maxConcurrentRuns: 9 }, ui: { seamColor: color } });
    await two.getByRole("button", { name: "Review", exact: true }).click();
    const conflict = two.getByRole("dialog", { name: "Nothing was saved" });
    await conflict.getByText("1 key changed on both sides; merging keeps yours:").waitFor();
    await conflict.getByText("cron.maxConcurrentRuns", { exact: true }).waitFor();
    expect(config().cron?.maxConcurrentRuns).toBe(9);
    await conflict.getByRole("button", { name: "Merge my changes" }).click();
    await valid(two);
    await save(two);
    await saved(two);
    expect(config()).toMatchObject({ cron: { maxConcurrentRuns: 4 }, ui: { seamColor: "#445566" } });
  });

  test("the configuration: what one tab has not saved is there after a reload, whatever the other one wrote, saved or discarded", async () => {
    const [one, two] = await tabs("config?section=cron", "config?view=text");
    one.on("dialog", (dialog) => void dialog.accept());
    await runs(one).fill("6");
    await valid(one);
    const text = two.getByRole("textbox", { name: "Configuration as JSON5" });
    await text.fill((await text.inputValue()).replace(/"seamColor": "#\w+"/, '"seamColor": "#778899"'));
    await valid(two);
    await two.getByRole("button", { name: "Discard", exact: true }).click();
    await two.getByRole("dialog").getByRole("button", { name: "Discard", exact: true }).click();
    await two.getByRole("status").getByText("Saved", { exact: true }).first().waitFor();
    await one.reload();
    await expect.poll(() => runs(one).inputValue(), SOON).toBe("6");
    await save(one);
    await saved(one);
    expect(config().cron?.maxConcurrentRuns).toBe(6);
  });

  test("a note: the second to save sees both texts, and what it wrote is saved only when it says so", async () => {
    const [one, two] = await tabs("memory?note=MEMORY.md&edit=1");
    const text = (page: Page): Locator => page.getByRole("textbox", { name: "Text of MEMORY.md" });
    await text(one).fill("# From one\n");
    await text(two).fill("# From two\n");
    await saveNote(one);
    await text(one).waitFor({ state: "detached" });
    expect(inWorkspace("MEMORY.md")).toBe("# From one\n");
    await saveNote(two);
    const dialog = two.getByRole("dialog");
    await dialog.getByText("From one").first().waitFor();
    await dialog.getByText("From two").first().waitFor();
    expect([inWorkspace("MEMORY.md"), await text(two).inputValue()]).toEqual(["# From one\n", "# From two\n"]);
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    expect(await text(two).inputValue()).toBe("# From two\n");
    await saveNote(two);
    await dialog.getByRole("button", { name: "Save your version" }).click();
    await expect.poll(() => inWorkspace("MEMORY.md"), SOON).toBe("# From two\n");
  });

  test("a file of an agent: the same", async () => {
    const [one, two] = await tabs("agents/main/files");
    for (const [page, words] of [
      [one, "Be quick.\n"],
      [two, "Be slow.\n"],
    ] as const) {
      await page.getByRole("button", { name: "SOUL.md" }).click();
      await page.getByRole("textbox", { name: "SOUL.md" }).fill(words);
    }
    await saveNote(one);
    await expect.poll(() => inWorkspace("SOUL.md"), SOON).toBe("Be quick.\n");
    await saveNote(two);
    const dialog = two.getByRole("dialog");
    await dialog.getByText("Be quick.").first().waitFor();
    expect([inWorkspace("SOUL.md"), await two.getByRole("textbox", { name: "SOUL.md" }).inputValue()]).toEqual(["Be quick.\n", "Be slow.\n"]);
    await dialog.getByRole("button", { name: "Use saved version" }).click();
    await expect.poll(() => two.getByRole("textbox", { name: "SOUL.md" }).inputValue(), SOON).toBe("Be quick.\n");
  });
});

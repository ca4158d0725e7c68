import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const SOON = { timeout: 15_000 };

describeInBrowser("names of conversations", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock", config: { session: { titles: { model: "mock/m1" } } } });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene[Symbol.asyncDispose]());

  test("a model names a conversation after its first answer, once; a name of the user stays", async () => {
    const page = await scene.open(`chat/${encodeURIComponent("agent:main:web:named")}`);
    const title = page.locator("oc-chat-header").getByRole("heading");
    const box = page.getByRole("textbox", { name: "Message", exact: true });
    await box.fill("where shall we go @say=Trip to Trieste");
    await box.press("Enter");
    await expect.poll(() => title.innerText(), SOON).toContain("Trip to Trieste");
    await box.fill("and then @say=Another place");
    await box.press("Enter");
    await page.getByRole("group", { name: "Answer" }).getByText("Another place").waitFor();
    await expect.poll(() => title.innerText(), SOON).toContain("Trip to Trieste");
    await page.getByRole("button", { name: /rename$/ }).click();
    await page.getByLabel("Name of the conversation").fill("Holidays");
    await page.getByLabel("Name of the conversation").press("Enter");
    await expect.poll(() => title.innerText(), SOON).toContain("Holidays");
  });
});

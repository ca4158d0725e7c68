import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { watch } from "./harness/watch.ts";

describeInBrowser("the first run", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ bare: true });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("with nothing configured, the link logs in, the page greets, an example is answered, and all of it is there after a reload", async () => {
    const window = await scene.window();
    const watched = await watch(window);
    const page = await window.newPage();
    await page.goto(scene.link());
    await page.getByText("The built-in offline model answers").waitFor();
    await page.locator("oc-greeting").getByRole("button", { name: "What can you do?" }).click();
    const answer = page.locator("oc-transcript").getByText("I am the built-in offline model");
    await answer.first().waitFor();
    await page.reload();
    await answer.first().waitFor();
    expect({ errors: watched.errors, foreign: watched.foreign(scene.url), dialogs: watched.dialogs }).toEqual({ errors: [], foreign: [], dialogs: [] });
    await window.close();
  });

  test("every step that the greeting offers has its page", async () => {
    const window = await scene.window();
    const page = await window.newPage();
    await page.goto(scene.link());
    await page.locator("oc-menu").waitFor();
    // A conversation in which nothing was said yet, whatever the other tests say.
    await page.goto(`${scene.url}/chat/agent%3Amain%3Aweb%3Afirst-steps`);
    const links = page.locator("oc-greeting a");
    await links.first().waitFor();
    for (const place of await links.evaluateAll((found) => found.map((link) => link.getAttribute("href")))) {
      await page.goto(`${scene.url}/${place}`);
      await page.locator("oc-start-page h1").first().waitFor();
    }
    await window.close();
  });
});

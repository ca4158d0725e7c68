import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openScene, type Scene } from "./harness/scene.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

test("browsers are distinguished by what they are, on the page and in the terminal, also before one of them is removed", async () => {
  await (await scene.open("chat", { userAgent: IPHONE })).getByRole("textbox").first().waitFor();
  const page = await scene.open("devices", { userAgent: FIREFOX });
  const own = page.getByRole("row").filter({ hasText: "this browser" });
  await own.getByRole("link", { name: "Firefox on Linux" }).waitFor();
  const phone = page.getByRole("row").filter({ has: page.getByRole("link", { name: "Safari on iPhone" }) });
  await phone.getByText("Control UI in a browser").waitFor();
  expect(scene.cli("devices", "list").stdout).toMatch(/Safari on iPhone/);
  await phone.getByRole("button", { name: "Remove Safari on iPhone" }).click();
  const question = page.getByRole("dialog");
  await question.getByText("Remove Safari on iPhone?").waitFor();
  await question.getByRole("button", { name: "Remove" }).click();
  await phone.waitFor({ state: "detached" });
  await own.waitFor();
});

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";

const MB = 1_000_000;
const key = (name: string): string => `agent:main:web:${name}`;
const session = (name: string): string => `chat/${encodeURIComponent(key(name))}`;
/** The name under which a tab keeps the files of a conversation. */
const of = (name: string): unknown => expect.stringContaining(`draft.${key(name)}#`);
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const attached = (page: Page): Locator => page.getByRole("list", { name: "Attached" }).getByRole("listitem");
const file = (name: string, bytes: number) => ({ name, mimeType: "application/octet-stream", buffer: randomBytes(bytes) });

/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 15_000 };

async function attach(page: Page, ...files: readonly ReturnType<typeof file>[]): Promise<void> {
  const before = await attached(page).count();
  await page.locator("oc-composer input[type=file]").setInputFiles([...files]);
  await expect.poll(() => attached(page).count(), SOON).toBe(before + files.length);
}

/** Names and sizes of what the browser keeps of files. */
const kept = (page: Page): Promise<{ readonly key: string; readonly bytes: number }[]> =>
  page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("openclaw-drafts");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      if (!database.objectStoreNames.contains("sizes")) return database.close(), resolve([]);
      const asking = database.transaction("sizes").objectStore("sizes").getAll();
      asking.onsuccess = () => (database.close(), resolve(asking.result));
      asking.onerror = () => reject(asking.error);
    };
  })`);

const keptKeys = async (page: Page): Promise<string[]> => (await kept(page)).map((one) => one.key);

/** All that the browser keeps of files. */
const SHELF = 64 * 1024 * 1024;

/** Says something else of how large something is that the browser keeps. */
const weigh = (page: Page, row: { readonly key: string; readonly at: number; readonly bytes: number; readonly firm?: boolean }): Promise<void> =>
  page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("openclaw-drafts");
    opening.onsuccess = () => {
      const changing = opening.result.transaction("sizes", "readwrite");
      changing.objectStore("sizes").put(${JSON.stringify(row)}, ${JSON.stringify(row.key)});
      changing.oncomplete = () => (opening.result.close(), resolve());
      changing.onabort = () => reject(changing.error);
    };
  })`);

/** Files of this name that the gateway has got. */
function received({ place }: Scene, name: string): Buffer[] {
  const folder = join(place.stateDir, "media", "inbound");
  return (existsSync(folder) ? readdirSync(folder) : []).filter((found) => found.startsWith(`${name}---`)).map((found) => readFileSync(join(folder, found)));
}

describeInBrowser("what is attached and not sent", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("six megabytes survive a reload, in their conversation only, until they are taken away or sent", async () => {
    const page = await scene.open(session("heavy"));
    await box(page).fill("look at these");
    const two = file("two.bin", 3 * MB);
    await attach(page, file("one.bin", 3 * MB), two);
    await expect.poll(async () => (await kept(page)).map(({ bytes }) => bytes), SOON).toEqual([8 * MB]);
    await page.reload();
    await expect.poll(() => attached(page).allInnerTexts(), SOON).toEqual([expect.stringContaining("one.bin"), expect.stringContaining("two.bin")]);
    expect(await box(page).inputValue()).toBe("look at these");
    await page.goto(`${scene.url}/${session("light")}`);
    await box(page).waitFor();
    await settled(page);
    expect(await attached(page).count()).toBe(0);
    await page.goto(`${scene.url}/${session("heavy")}`);
    await page.getByRole("button", { name: "Remove one.bin" }).click();
    await expect.poll(async () => (await kept(page)).map(({ bytes }) => bytes), SOON).toEqual([4 * MB]);
    await page.reload();
    await expect.poll(() => attached(page).allInnerTexts(), SOON).toEqual([expect.stringContaining("two.bin")]);
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("look at these").waitFor();
    await expect.poll(() => keptKeys(page), SOON).toEqual([]);
    expect(received(scene, "two").map((bytes) => bytes.equals(two.buffer))).toEqual([true]);
    await page.reload();
    await box(page).waitFor();
    await settled(page);
    expect([await attached(page).count(), await box(page).inputValue()]).toEqual([0, ""]);
  });

  test("a message with files that was sent while the gateway was away outlives its tab, and comes whole and once", async () => {
    const page = await scene.open(session("away"));
    const window = page.context();
    const late = file("late.bin", 4 * MB);
    await attach(page, late);
    scene.gateway.child.kill("SIGKILL");
    await scene.gateway.exited;
    await page.getByText("Connection lost").waitFor();
    await box(page).fill("from before");
    await box(page).press("Enter");
    await expect.poll(() => keptKeys(page), SOON).toEqual([expect.stringMatching(/^unsent\./)]);
    await expect.poll(() => page.evaluate(() => Object.keys(localStorage).filter((name) => name.includes("unsent")).length), SOON).toBe(1);
    await page.close();
    await scene.restart();
    const later = await window.newPage();
    await later.goto(`${scene.url}/${session("away")}`);
    await later.locator("oc-transcript").getByText("from before").waitFor();
    await expect.poll(() => keptKeys(later), SOON).toEqual([]);
    expect(received(scene, "late").map((bytes) => bytes.equals(late.buffer))).toEqual([true]);
    expect(await later.locator("oc-transcript").getByText("from before").count()).toBe(1);
  });

  test("what was attached last pushes out what was attached first when it becomes too much", async () => {
    const page = await scene.open(session("first"));
    await attach(page, file("first.bin", 1 * MB));
    await expect.poll(() => keptKeys(page), SOON).toEqual([of("first")]);
    // As if it were so large that not even a byte fits beside it.
    const [first] = await keptKeys(page);
    await weigh(page, { key: first!, at: 1, bytes: SHELF });
    await page.goto(`${scene.url}/${session("last")}`);
    await box(page).waitFor();
    await attach(page, file("last.bin", 1 * MB));
    await expect.poll(() => keptKeys(page), SOON).toEqual([of("last")]);
    await page.goto(`${scene.url}/${session("first")}`);
    await box(page).waitFor();
    await settled(page);
    expect(await attached(page).count()).toBe(0);
  });

  test("no file stays in a browser that logs out, or whose token is taken away; the text of the draft does", async () => {
    const page = await scene.open(session("private"));
    const isOut = page.getByRole("heading", { name: "Sign in" });
    await box(page).fill("half a thought");
    await attach(page, file("private.bin", 2 * MB));
    await expect.poll(() => keptKeys(page), SOON).toEqual([of("private")]);
    const deviceId = await page.evaluate(() =>
      Object.keys(localStorage)
        .find((name) => name.includes("device-token"))
        ?.split(".")
        .at(-2),
    );
    await page.goto("about:blank");
    expect(scene.cli("devices", "revoke", "--device", deviceId!, "--role", "operator").code).toBe(0);
    await page.goto(`${scene.url}/${session("private")}`);
    await isOut.waitFor();
    await expect.poll(() => keptKeys(page), SOON).toEqual([]);
    await page.goto(scene.link());
    await page.locator("oc-menu").waitFor();
    await page.goto(`${scene.url}/${session("private")}`);
    await expect.poll(() => box(page).inputValue(), SOON).toBe("half a thought");
    expect(await attached(page).count()).toBe(0);
    await attach(page, file("again.bin", 2 * MB));
    await expect.poll(() => keptKeys(page), SOON).toEqual([of("private")]);
    await page.goto(`${scene.url}/devices`);
    await page.getByRole("button", { name: "Sign out this browser" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await isOut.waitFor();
    await expect.poll(() => keptKeys(page), SOON).toEqual([]);
  });

  test("a message that the browser has no space to store stays in the box, and says so; it goes when it is sent once more", async () => {
    const page = await scene.open(session("full"));
    await box(page).fill("no space for this");
    await attach(page, file("full.bin", 1 * MB));
    await expect.poll(() => keptKeys(page), SOON).toEqual([of("full")]);
    await weigh(page, { key: "unsent.another", at: 1, bytes: SHELF, firm: true });
    await page.evaluate(() => {
      for (let size = 4_000_000; size >= 1; size = Math.floor(size / 2)) {
        for (let at = 0; ; at += 1) {
          try {
            localStorage.setItem(`filler.${size}.${at}`, "x".repeat(size));
          } catch {
            break;
          }
        }
      }
    });
    await box(page).press("Enter");
    const alert = page.getByRole("alert").filter({ hasText: "no space to store the message" });
    await alert.waitFor();
    expect([await box(page).inputValue(), await attached(page).count()]).toEqual(["no space for this", 1]);
    expect(received(scene, "full")).toEqual([]);
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("no space for this").waitFor();
    await alert.waitFor({ state: "detached" });
    await expect.poll(() => received(scene, "full").length, SOON).toBe(1);
    expect([await box(page).inputValue(), await attached(page).count()]).toEqual(["", 0]);
  });

  test("two tabs of one conversation keep their own text and files over reloads, and one that sends takes nothing from the other", async () => {
    const one = await scene.open(session("twice"));
    await box(one).fill("from one");
    await attach(one, file("one.bin", 1 * MB));
    const two = await one.context().newPage();
    await two.goto(`${scene.url}/${session("twice")}`);
    // Begins with what there is.
    await expect.poll(() => attached(two).allInnerTexts(), SOON).toEqual([expect.stringContaining("one.bin")]);
    expect(await box(two).inputValue()).toBe("from one");
    await two.getByRole("button", { name: "Remove one.bin" }).click();
    await box(two).fill("from two");
    await attach(two, file("two.bin", 1 * MB));
    await expect.poll(() => keptKeys(two), SOON).toEqual([of("twice"), of("twice")]);
    for (const [tab, name] of [
      [one, "one"],
      [two, "two"],
    ] as const) {
      await tab.reload();
      await expect.poll(() => attached(tab).allInnerTexts(), SOON).toEqual([expect.stringContaining(`${name}.bin`)]);
      expect(await box(tab).inputValue()).toBe(`from ${name}`);
    }
    await box(one).press("Enter");
    await two.locator("oc-transcript").getByText("from one").waitFor();
    await expect.poll(() => keptKeys(two), SOON).toEqual([of("twice")]);
    for (const tab of [one, two]) await tab.reload();
    await expect.poll(() => attached(two).allInnerTexts(), SOON).toEqual([expect.stringContaining("two.bin")]);
    await one.locator("oc-transcript").getByText("from one").waitFor();
    await settled(one);
    expect([await box(one).inputValue(), await attached(one).count(), await box(two).inputValue()]).toEqual(["", 0, "from two"]);
  });
});

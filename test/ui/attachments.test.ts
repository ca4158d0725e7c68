import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";

const LARGE = 4_900_000;
const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const attached = (page: Page): Locator => page.getByRole("list", { name: "Attached" }).getByRole("listitem");

interface Picking {
  readonly DataTransfer: new () => { readonly items: { add(file: File): void }; readonly files: unknown };
}

/** Attaches files of almost five megabytes. The page makes them: so much is slow to hand over. */
const pick = (page: Page, names: readonly string[]): Promise<void> =>
  page.locator("oc-composer input[type=file]").evaluate(
    (input, { all, size }) => {
      const picked = new (globalThis as unknown as Picking).DataTransfer();
      for (const name of all) picked.items.add(new File([new Uint8Array(size)], `${name}.bin`, { type: "application/octet-stream" }));
      Object.assign(input, { files: picked.files });
      (input as unknown as EventTarget).dispatchEvent(new Event("change"));
    },
    { all: names, size: LARGE },
  );

/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 15_000 };

/** Names of files that the gateway has got, without what it puts behind them. */
function received({ place }: Scene, ...names: readonly string[]): string[] {
  const folder = join(place.stateDir, "media", "inbound");
  const found = (existsSync(folder) ? readdirSync(folder) : []).map((file) => file.split("---")[0]!);
  return found.filter((name) => names.includes(name)).toSorted();
}

/** Counts the sockets that the page opens from now on. */
function sockets(page: Page): { readonly count: number } {
  const counted = { count: 0 };
  page.on("websocket", () => (counted.count += 1));
  return counted;
}

describeInBrowser("large attachments", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("what the gateway does not take together is left out, with the size and the limit; the rest goes out over the same connection", async () => {
    const page = await scene.open(session("sum"));
    const opened = sockets(page);
    await pick(page, ["sum1", "sum2", "sum3", "sum4", "sum5"]);
    const note = page.getByRole("alert").filter({ hasText: "sum5.bin was not attached" });
    await note.waitFor();
    expect(await note.innerText()).toMatch(
      /With this file, the message would be 32\.7 MB when sent; the gateway accepts up to 26\.2 MB, about 19\.7 MB of files\./,
    );
    expect(await attached(page).count()).toBe(4);
    await box(page).fill("four of five");
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("four of five").waitFor();
    await expect.poll(() => received(scene, "sum1", "sum2", "sum3", "sum4", "sum5"), SOON).toEqual(["sum1", "sum2", "sum3", "sum4"]);
    expect(await box(page).inputValue()).toBe("");
    expect(opened.count).toBe(0);
  });

  test("a message that breaks the connection each time fails with the reason after two tries; the next one goes out", async () => {
    const page = await scene.open(session("poison"));
    let tries = 0;
    let opened = 0;
    // Something between the browser and the gateway that does not let large messages through.
    await page.routeWebSocket(/./, (socket) => {
      opened += 1;
      const gateway = socket.connectToServer();
      socket.onMessage((text) => {
        if (text.length < 1_000_000) return gateway.send(text);
        tries += 1;
        void gateway.close();
        void socket.close({ code: 4999, reason: "no" });
      });
    });
    await page.reload();
    await box(page).fill("too much for the way");
    await pick(page, ["poison"]);
    await expect.poll(() => attached(page).count(), SOON).toBe(1);
    await box(page).press("Enter");
    await page.locator("oc-transcript").getByText("The connection dropped twice while sending this").waitFor();
    await box(page).fill("and this");
    await box(page).press("Enter");
    await expect.poll(() => page.locator("oc-transcript").getByText("and this").count(), SOON).toBeGreaterThan(0);
    await settled(page);
    expect([tries, opened]).toEqual([2, 3]);
    await page.reload();
    await page.locator("oc-transcript").getByText("The connection dropped twice while sending this").waitFor();
    await settled(page);
    expect([tries, opened, received(scene, "poison")]).toEqual([2, 4, []]);
  });

  test("a message of 15 MB to a gateway that hangs and dies is there after a reload, and goes out once", async () => {
    const page = await scene.open(session("dies"));
    await pick(page, ["dies1", "dies2", "dies3"]);
    await expect.poll(() => attached(page).count(), SOON).toBe(3);
    await box(page).fill("before the end");
    scene.gateway.child.kill("SIGSTOP");
    await box(page).press("Enter");
    await expect.poll(() => box(page).inputValue(), SOON).toBe("");
    await page.locator("oc-transcript").getByText("before the end").waitFor();
    scene.gateway.child.kill("SIGKILL");
    await scene.gateway.exited;
    await page.goto("about:blank");
    await scene.restart();
    await page.goto(`${scene.url}/${session("dies")}`);
    await page.locator("oc-transcript").getByText("before the end").waitFor();
    await expect.poll(() => received(scene, "dies1", "dies2", "dies3"), SOON).toEqual(["dies1", "dies2", "dies3"]);
    await expect.poll(() => page.evaluate(() => Object.keys(localStorage).filter((name) => name.includes("unsent")).length), SOON).toBe(0);
    await settled(page);
    expect(await page.locator("oc-transcript").getByText("before the end").count()).toBe(1);
    await page.reload();
    await page.locator("oc-transcript").getByText("before the end").waitFor();
    await settled(page);
    expect(await page.locator("oc-transcript").getByText("before the end").count()).toBe(1);
    expect(received(scene, "dies1", "dies2", "dies3")).toEqual(["dies1", "dies2", "dies3"]);
  });
});

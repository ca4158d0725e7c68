import { afterAll, beforeAll, expect, test } from "vitest";
import { scanned } from "../fakes/whatsapp/picture.ts";
import { CHANNEL_SETUPS, type ChannelSetup } from "../harness/channel-setups.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const PATIENCE = { timeout: 30_000, interval: 50 };

describeInBrowser("setting channels up in the page", () => {
  let scene: Scene;
  const setups = new Map<string, ChannelSetup>();
  beforeAll(async () => {
    for (const [id, open] of Object.entries(CHANNEL_SETUPS)) setups.set(id, await open());
    const env = Object.assign({}, ...[...setups.values()].map((setup) => setup.env)) as Record<string, string>;
    scene = await openScene({ gateway: { env } });
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    for (const setup of setups.values()) await setup[Symbol.asyncDispose]();
  });

  test.each(Object.keys(CHANNEL_SETUPS))("%s: its card has the steps and fields that are enough, and the gateway connects", async (id) => {
    const { fields, isUp, scan } = setups.get(id)!;
    const page = await scene.open("start");
    const card = page.locator("oc-start-channel");
    await card.locator("select").selectOption(id);
    const steps = card.locator("oc-step-list");
    expect(await steps.locator("li").count()).toBeGreaterThan(1);
    expect(await steps.locator("svg rect.frame").count()).toBeGreaterThan(0);
    for (const [path, value] of Object.entries(fields)) await card.locator(`[id="field-${path}"]`).fill(value);
    await card.getByRole("button", { name: "Connect" }).click();
    if (scan) {
      await card.getByRole("button", { name: "Log in with a code" }).click();
      scan(scanned((await card.getByAltText("Code to scan with the phone").getAttribute("src"))!)!);
    }
    await card.getByText("is connected.").waitFor();
    if (isUp) await expect.poll(() => isUp(), PATIENCE).toBe(true);
    await expect
      .poll(() => (JSON.parse(scene.cli("channels", "status", "--json").stdout) as { channelAccounts: Record<string, unknown> }).channelAccounts[id], PATIENCE)
      .toMatchObject([{ connected: true }]);
    await page.context().close();
  });
});

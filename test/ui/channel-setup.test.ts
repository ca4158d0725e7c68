import { afterAll, beforeAll, expect, test } from "vitest";
import { appManifest } from "../../plugins/slack/manifest.ts";
import { scanned } from "../fakes/whatsapp/picture.ts";
import { CHANNEL_SETUPS, type ChannelSetup } from "../harness/channel-setups.ts";
import { choose } from "./harness/choose.ts";
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
    await choose(card.getByRole("combobox", { name: "Channel" }), id);
    const steps = card.locator("oc-step-list");
    expect(await steps.locator("li").count()).toBeGreaterThan(1);
    expect(await steps.locator("svg rect.frame").count()).toBeGreaterThan(0);
    // Another test may have set it up in another way.
    const delivery = card.getByRole("combobox", { name: "Delivery" });
    if ((await delivery.count()) > 0) await choose(delivery, "socket");
    for (const [path, value] of Object.entries(fields)) await card.locator(`[id="field-${path}"]`).fill(value);
    await card.getByRole("button", { name: "Connect" }).click();
    if (scan) {
      await card.getByRole("button", { name: "Log in with QR code" }).click();
      scan(scanned((await card.getByAltText("QR code to scan with your phone").getAttribute("src"))!)!);
    }
    await card.getByText("is connected.").waitFor();
    if (isUp) await expect.poll(() => isUp(), PATIENCE).toBe(true);
    await expect
      .poll(() => (JSON.parse(scene.cli("channels", "status", "--json").stdout) as { channelAccounts: Record<string, unknown> }).channelAccounts[id], PATIENCE)
      .toMatchObject([{ connected: true }]);
    await page.context().close();
  });

  test("slack over HTTP: the card asks for the signing secret, and shows the manifest for it", async () => {
    const { fields } = setups.get("slack")!;
    const page = await scene.open("start");
    const card = page.locator("oc-start-channel");
    await choose(card.getByRole("combobox", { name: "Channel" }), "slack");
    await choose(card.getByRole("combobox", { name: "Delivery" }), "http");
    const steps = card.locator("oc-step-list");
    // It is set up already, so the steps are folded.
    if (!(await steps.isVisible())) await card.getByText("How to set up Slack").click();
    await card.locator('[id="field-webhookPath"]').fill("/in/slack");
    const shown = JSON.parse((await steps.locator("pre").textContent())!) as unknown;
    expect(shown).toEqual(appManifest({ mode: "http", command: "openclaw", url: "https://gateway.example/in/slack" }));
    expect(await card.locator('[id="field-appToken"]').count()).toBe(0);
    await card.locator('[id="field-botToken"]').fill(fields["botToken"]!);
    await card.locator('[id="field-signingSecret"]').fill("s3cret");
    await card.getByRole("button", { name: "Connect" }).click();
    await card.getByText("is connected.").waitFor();
    await expect
      .poll(
        () => (JSON.parse(scene.cli("channels", "status", "--json").stdout) as { channelAccounts: Record<string, unknown> }).channelAccounts["slack"],
        PATIENCE,
      )
      .toMatchObject([{ connected: true, mode: "http", webhookPath: "/in/slack" }]);
    await page.context().close();
  });
});

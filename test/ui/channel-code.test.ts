import { afterAll, beforeAll, expect, test } from "vitest";
import { startWhatsApp, type FakeWhatsApp } from "../fakes/whatsapp/index.ts";
import { choose } from "./harness/choose.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const PATIENCE = { timeout: 30_000, interval: 50 };

describeInBrowser("linking a number in the page with a code", () => {
  let whatsapp: FakeWhatsApp;
  let scene: Scene;
  beforeAll(async () => {
    whatsapp = await startWhatsApp();
    scene = await openScene({ gateway: { env: whatsapp.env } });
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await whatsapp?.[Symbol.asyncDispose]();
  });

  test("a code for the number is shown, and the account connects once it is typed on the phone", async () => {
    const page = await scene.open("start");
    const card = page.locator("oc-start-channel");
    await choose(card.getByRole("combobox"), "whatsapp");
    await card.locator('[id="field-allowFrom"]').fill("+491701234567");
    await card.getByRole("button", { name: "Connect" }).click();
    const login = card.locator("oc-qr-login");
    const number = login.getByLabel("Phone number, to link with a code instead");
    await number.fill("ada");
    await login.getByRole("button", { name: "Get code" }).click();
    await login.getByText(/7 to 15 digits/).waitFor();
    await number.fill("+1 555 000 1000");
    await login.getByRole("button", { name: "Get code" }).click();
    const code = await login.getByLabel("Code to enter on your phone").textContent();
    expect(code).toMatch(/^[1-9A-Z]{8}$/);
    await expect
      .poll(() => whatsapp.stanzas.some(({ content }) => Array.isArray(content) && content[0]?.tag === "link_code_companion_reg"), PATIENCE)
      .toBe(true);
    whatsapp.enterCode(code!);
    await card.getByText("is connected.").waitFor();
    await expect
      .poll(
        () => (JSON.parse(scene.cli("channels", "status", "--json").stdout) as { channelAccounts: Record<string, unknown> }).channelAccounts["whatsapp"],
        PATIENCE,
      )
      .toMatchObject([{ connected: true }]);
    await page.context().close();
  });
});

/** A number is linked through a running gateway, as the page does it. */
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { until } from "../conformance/channels/suite/heard.ts";
import { startWhatsApp } from "../fakes/whatsapp/index.ts";
import { textOf } from "../fakes/whatsapp/mail.ts";
import { scanned } from "../fakes/whatsapp/picture.ts";

test("web.login.start shows a code, web.login.wait ends when the phone has scanned it, and the account answers from then on", { timeout: 60_000 }, async () => {
  await using whatsapp = await startWhatsApp();
  const owner = whatsapp.world.person({ number: "491701234567", name: "Olive" });
  const section = { enabled: true, dmPolicy: "allowlist", allowFrom: [`+${owner.number}`] };
  await using gateway = await startLabGateway({ sections: { channels: { whatsapp: section } }, env: whatsapp.env });
  expect(await gateway.account("whatsapp")).toMatchObject({ linked: false, running: false });
  const started = await gateway.operator.request("web.login.start", { idempotencyKey: "login-1", timeoutMs: 30_000 });
  const text = scanned(String(started.payload!["qrDataUrl"]));
  whatsapp.scan(text!);
  const { payload } = await gateway.operator.request("web.login.wait", { timeoutMs: 30_000 });
  expect(payload).toMatchObject({ connected: true, message: "Linked as +15550001000." });
  await until(
    async () => (await gateway.account("whatsapp"))?.connected === true,
    () => `the account does not start\n${gateway.output()}`,
  );
  await whatsapp.deliver({ from: owner, message: { conversation: "and w-apple?" } });
  await until(
    () => whatsapp.world.seen.some(({ message }) => textOf(message) === "Heard w-apple."),
    () => `no answer\n${gateway.output()}`,
  );
  const again = await gateway.operator.request("web.login.start", { idempotencyKey: "login-2" });
  expect(again.payload!["message"]).toContain("already linked as +15550001000");
  const { code, output } = await gateway.cli("channels", "logout", "--channel", "whatsapp");
  expect([code, output]).toEqual([0, "Signed out of whatsapp account default\n"]);
  expect(whatsapp.world.devices).toEqual([]);
});

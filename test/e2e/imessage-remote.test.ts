/** iMessage of a Mac elsewhere: a script that uses ssh, and files over scp, through a real gateway. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startMessages } from "../fakes/imessage/index.ts";

const OWNER = "+491701234567";
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

test("messages and files go both ways over ssh and scp, and nothing is lost when the gateway is killed", async () => {
  await using mac = await startMessages({ remote: true });
  const direct = mac.direct(OWNER);
  const cliPath = join(mac.folder, "imsg-on-mac");
  writeFileSync(cliPath, '#!/bin/sh\nexec ssh -T claw@mac.local imsg "$@"\n', { mode: 0o755 });
  await using gateway = await startLabGateway({
    env: { PATH: `${mac.bin}:${process.env["PATH"] ?? ""}` },
    sections: { channels: { imessage: { cliPath, dbPath: mac.dbPath, dmPolicy: "allowlist", allowFrom: [OWNER], includeAttachments: true } } },
  });
  await expect.poll(async () => (await gateway.account("imessage"))?.connected).toBe(true);
  const sent = () => mac.rows.filter(({ isFromMe }) => isFromMe);
  const chart = join(gateway.workspace, "chart.png");
  writeFileSync(chart, PNG);
  gateway.model.answers(({ user }) => (user.includes("w-apple") ? `Here is w-apple.\nMEDIA:${chart}` : undefined));
  mac.say(OWNER, direct, "see w-apple", { file: { name: "photo 1.png", mime: "image/png", data: PNG } });
  await expect.poll(() => sent().flatMap(({ file }) => file ?? [])).toEqual([{ name: "chart.png", data: PNG }]);
  expect(sent()[0]!.text).toBe("Here is w-apple.");
  expect(gateway.model.requests[0]!.images).toBe(1);
  expect(mac.calls().map(([program, ...args]) => [program, args.some((arg) => arg.includes("StrictHostKeyChecking=yes"))])).toEqual([
    ["ssh", false],
    ["scp", true],
    ["scp", true],
  ]);
  await gateway.kill();
  // The program behind ssh ends with its input.
  await expect.poll(() => mac.running()).toBe(0);
  mac.say(OWNER, direct, "and w-plum?");
  await gateway.start();
  await expect.poll(() => sent().map(({ text }) => text)).toContain("Heard w-plum.");
});

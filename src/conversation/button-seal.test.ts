import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/random.ts";
import { openStore } from "../store/index.ts";
import { createButtonSeal } from "./button-seal.ts";

const buttons = () => ({ channelData: { chat: { buttons: [[{ callback_data: "/approve 1 deny" }]] } } });

test("parts of a gateway that make the key at the same moment read each other's buttons", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "button-seal-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  await using store = await openStore({ stateDir, clock: systemClock });
  const parts = Array.from({ length: 4 }, () => createButtonSeal({ store, random: systemRandom }));
  const sealed = await Promise.all(parts.map(async (part) => (await part.seal(buttons())).channelData.chat.buttons[0]![0]!.callback_data));
  expect(new Set(sealed).size).toBe(1);
  for (const part of parts) expect(await part.open(sealed[0]!)).toBe("/approve 1 deny");
});

/** Who may write to a channel that was just set up. */
import { describe, expect, test } from "vitest";
import { configure } from "../../src/setup/configure.ts";
import { onboard } from "../../src/setup/onboard.ts";
import { at } from "./place.ts";
import { GOES_ON, person, openSetup } from "./fixture.ts";

const TOKEN = "123456789:AAabcdefghijklmnopqrstuvw";
const TELEGRAM = { ...GOES_ON, "Which model do you want to use?": "skip", "Which channels": ["telegram"], "Bot token": TOKEN };
const GIVEN = { skip: { health: true, skills: true } };

describe("QuickStart", () => {
  test("lets in the people who are named, and nobody else", async () => {
    const { place, config } = await openSetup();
    await onboard(place, { ask: person({ ...TELEGRAM, "Telegram user ids": "12345, tg:678" }).ask, answers: GIVEN, command: "test" });
    expect(at(config(), "channels.telegram")).toEqual({ enabled: true, botToken: TOKEN, dmPolicy: "allowlist", allowFrom: ["12345", "678"] });
    expect(at(config(), "commands.ownerAllowFrom")).toEqual(["telegram:12345"]);
  });

  test("offers those who are named as owners, and nobody", async () => {
    const { place, config } = await openSetup();
    const { ask, offered } = person({ ...TELEGRAM, "Telegram user ids": "12345, 678", "Who is the owner": "" });
    await onboard(place, { ask, answers: GIVEN, command: "test" });
    expect(Object.entries(offered).find(([message]) => message.startsWith("Who is the owner"))?.[1]).toEqual(["12345", "678", ""]);
    expect(at(config(), "commands.ownerAllowFrom")).toBeUndefined();
  });

  test("takes the owner from --owner, as channel:id", async () => {
    const { place, config } = await openSetup();
    const { ask, asked } = person({ ...TELEGRAM, "Telegram user ids": "" });
    await onboard(place, { ask, answers: { ...GIVEN, owner: "Telegram:12345" }, command: "test" });
    expect(at(config(), "commands.ownerAllowFrom")).toEqual(["telegram:12345"]);
    expect(asked.some((message) => message.startsWith("Who is the owner"))).toBe(false);
    for (const owner of ["12345", "telegram:", "telegram:*"]) {
      const given = { ...GIVEN, owner };
      await expect(
        onboard((await openSetup()).place, { ask: person({ ...TELEGRAM, "Telegram user ids": "" }).ask, answers: given, command: "test" }),
      ).rejects.toThrow("channel:id");
    }
  });

  test("does not take an owner on a channel that there is not", async () => {
    const { place } = await openSetup();
    const { ask } = person({ ...TELEGRAM, "Telegram user ids": "" });
    await expect(onboard(place, { ask, answers: { ...GIVEN, owner: "telegramm:12" }, command: "test" })).rejects.toThrow(
      'there is no channel "telegramm"; did you mean telegram?',
    );
  });

  test("does not take names: they change hands", async () => {
    const { place, config } = await openSetup();
    const { ask } = person({ ...TELEGRAM, "Telegram user ids": "@ada" });
    await expect(onboard(place, { ask, answers: GIVEN, command: "test" })).rejects.toThrow("numbers such as");
    expect(at(config(), "channels")).toBeUndefined();
  });

  test("stays with codes when nobody is named, and says how to let people in", async () => {
    const { place, config } = await openSetup();
    const { ask, notes } = person({ ...TELEGRAM, "Telegram user ids": "" });
    await onboard(place, { ask, answers: GIVEN, command: "test" });
    expect(at(config(), "channels.telegram")).toEqual({ enabled: true, botToken: TOKEN });
    expect(notes.join("\n")).toContain("openclaw pairing approve telegram <code>");
  });

  test("asks nobody about a policy that is set already", async () => {
    const { place, config } = await openSetup(`{ channels: { telegram: { dmPolicy: "disabled", botToken: "${TOKEN}" } } }`);
    const { ask, asked } = person({ ...TELEGRAM, "Existing configuration": "modify", "Keep it?": true });
    await onboard(place, { ask, answers: GIVEN, command: "test" });
    expect([asked.includes("Telegram user ids"), at(config(), "channels.telegram.dmPolicy")]).toEqual([false, "disabled"]);
  });

  test("does not ask on channels that are not made for it", async () => {
    const { place, config } = await openSetup();
    const irc = { "Which channels": ["irc"], Server: "irc.example", "Encrypted (TLS)": true, Nick: "claw", "Channels to join": "#help" };
    const { ask, asked } = person({ ...TELEGRAM, ...irc });
    await onboard(place, { ask, answers: GIVEN, command: "test" });
    expect(asked.some((message) => message.includes("Who may send"))).toBe(false);
    expect(at(config(), "channels.irc.dmPolicy")).toBeUndefined();
  });
});

describe("Manual", () => {
  test.each([
    ["pairing", {}],
    ["disabled", { dmPolicy: "disabled" }],
    ["open", { dmPolicy: "open", allowFrom: ["*"] }],
    ["allowlist", { dmPolicy: "allowlist", allowFrom: ["5"] }],
  ])("%s", async (policy, expected) => {
    const { place, config } = await openSetup("{}");
    const { ask } = person({ "Which channels": ["telegram"], "Bot token": TOKEN, "Who may send": policy, "Telegram user ids": "5" });
    await configure(place, ask, ["channels"]);
    expect(at(config(), "channels.telegram")).toEqual({ enabled: true, botToken: TOKEN, ...expected });
  });
});

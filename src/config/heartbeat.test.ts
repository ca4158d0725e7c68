import { expect, test } from "vitest";
import { heartbeatAgents, heartbeatSettings, heartbeatVisibility, isActiveHour } from "./heartbeat.ts";

const at = (time: string): number => Date.parse(`2026-01-15T${time}:00Z`);

test.each([
  ["08:00", "22:00", "08:00", true],
  ["08:00", "22:00", "07:59", false],
  ["08:00", "22:00", "22:00", false],
  ["08:00", "24:00", "23:59", true],
  ["22:00", "06:00", "23:30", true],
  ["22:00", "06:00", "05:59", true],
  ["22:00", "06:00", "06:00", false],
  ["09:00", "09:00", "03:00", true],
])("from %s to %s, %s is active: %s", (start, end, time, expected) => {
  expect(isActiveHour({ activeHours: { start, end, timezone: "UTC" } }, undefined, at(time))).toBe(expected);
});

test("hours are those of the user, of the named zone, or of this machine where there is no such zone", () => {
  const hours = { start: "08:00", end: "10:00" };
  expect(isActiveHour({ activeHours: hours }, "Asia/Tokyo", at("00:00"))).toBe(true);
  expect(isActiveHour({ activeHours: { ...hours, timezone: "Asia/Tokyo" } }, "UTC", at("00:00"))).toBe(true);
  const local = isActiveHour({ activeHours: { ...hours, timezone: "local" } }, "Asia/Tokyo", at("00:00"));
  expect(isActiveHour({ activeHours: { ...hours, timezone: "Mars/Olympus" } }, "Asia/Tokyo", at("00:00"))).toBe(local);
});

test("only agents with settings of their own are woken, else the default one", () => {
  expect(heartbeatAgents({})).toEqual(["main"]);
  expect(heartbeatAgents({ agents: { list: [{ id: "A" }, { id: "b", default: true }] } })).toEqual(["b"]);
  expect(
    heartbeatAgents({
      agents: {
        list: [
          { id: "A", heartbeat: {} },
          { id: "b", default: true },
        ],
      },
    }),
  ).toEqual(["a"]);
});

test("an agent's settings lie over the general ones; a bare number counts minutes", () => {
  const config = { agents: { defaults: { heartbeat: { every: "5", target: "none" } }, list: [{ id: "a", heartbeat: { target: "Telegram" } }] } };
  expect(heartbeatSettings(config, "A")).toMatchObject({ everyMs: 300_000, target: "telegram", ackMaxChars: 300 });
  expect(heartbeatSettings({}, "main")).toMatchObject({ every: "30m", everyMs: 1_800_000, target: "last" });
});

test("an account's visibility lies over its channel's, over that of all channels", () => {
  const config = {
    channels: {
      defaults: { heartbeat: { showOk: true, useIndicator: false } },
      telegram: { heartbeat: { showAlerts: false }, accounts: { second: { heartbeat: { showOk: false, showAlerts: true } } } },
    },
  };
  expect(heartbeatVisibility(config, "telegram", "second")).toEqual({ showOk: false, showAlerts: true, useIndicator: false });
  expect(heartbeatVisibility(config, "telegram", "default")).toEqual({ showOk: true, showAlerts: false, useIndicator: false });
  expect(heartbeatVisibility(config, "webchat", "default")).toEqual({ showOk: true, showAlerts: true, useIndicator: false });
});

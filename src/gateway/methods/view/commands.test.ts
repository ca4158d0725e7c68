import { expect, test } from "vitest";
import { shownCommand } from "../view.ts";

const command = { name: "x", aliases: ["y"], description: "does it", group: "status", acceptsArgs: true, source: "core" };

test("a command is shown with its names, where it comes from and what it takes", () => {
  expect(shownCommand({ ...command, acceptsArgs: false })).toEqual({
    name: "x",
    aliases: ["y"],
    description: "does it",
    category: "status",
    source: "core",
    args: [],
  });
  expect(shownCommand(command).args).toEqual([{ name: "text" }]);
});

test.each([
  ["[level]", ["off", "high"], [{ name: "level", choices: ["off", "high"] }]],
  ["[on|off]", undefined, [{ name: "on|off", choices: ["on", "off"] }]],
  ["[on|off|status|…]", undefined, [{ name: "on|off|status|…", choices: ["on", "off", "status"] }]],
  [
    "<id> <allow-once|allow-always|deny>",
    undefined,
    [
      { name: "id", required: true },
      { name: "allow-once|allow-always|deny", choices: ["allow-once", "allow-always", "deny"], required: true },
    ],
  ],
  ["[host= security= ask= node=]", undefined, [{ name: "host= security= ask= node=" }]],
  ["[mode] [debounce: cap: drop:]", ["steer"], [{ name: "mode", choices: ["steer"] }, { name: "debounce: cap: drop:" }]],
])("%s", (usage, choices, args) => {
  expect(shownCommand({ ...command, usage, ...(choices ? { choices } : {}) }).args).toEqual(args);
});

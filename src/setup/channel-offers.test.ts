import { describe, expect, test } from "vitest";
import type { Inventory, PluginEntry } from "../plugins/index.ts";
import { channelOffers, findOffer, sectionWith, stepsFor } from "./channel-offers.ts";

const SCHEMA = {
  type: "object",
  additionalProperties: false,
  required: ["host"],
  properties: {
    host: { type: "string", description: "The server. More words." },
    port: { type: "integer" },
    rooms: { type: "array", items: { type: "string" } },
    botToken: { type: "string", "x-sensitive": true },
    proxy: { type: "string", "x-sensitive": true, "x-advanced": true },
    enabled: { type: "boolean" },
    accounts: { type: "object" },
  },
};

function inventory(over: Partial<PluginEntry> = {}, config: object = { schema: SCHEMA }): Inventory {
  const manifest = { id: "chat", configSchema: {}, channels: ["chat"], rest: { channelConfigs: { chat: config } } };
  const entry: PluginEntry = {
    id: "chat",
    name: "Chat",
    origin: "bundled",
    rootDir: "/",
    source: "/x",
    manifest,
    enabled: false,
    reason: "bundled (disabled by default)",
    ...over,
  };
  return { entries: [entry], diagnostics: [] };
}

const offer = (config?: object) => channelOffers(inventory({}, config))[0]!;

test("without hints a form asks for what is required and for secrets, with labels from their names", () => {
  expect(offer().fields).toEqual([
    { path: "botToken", label: "Bot token", secret: true, required: false },
    { path: "host", label: "Host", secret: false, required: true, help: "The server." },
  ]);
});

test("hints decide what is asked, in their order, and how it is called", () => {
  const uiHints = { rooms: { label: "Rooms", placeholder: "#a" }, host: { help: "Its name." }, port: { advanced: true }, gone: { label: "Not in the schema" } };
  expect(offer({ schema: SCHEMA, uiHints }).fields).toMatchObject([
    { path: "rooms", label: "Rooms", placeholder: "#a", required: false },
    { path: "host", help: "Its name.", required: true },
  ]);
});

test("a plugin that is broken or turned off says so; one that waits for its first settings does not", () => {
  expect(offer().off).toBeUndefined();
  expect(channelOffers(inventory({ reason: "disabled in config" }))[0]!.off).toBe("disabled in config");
  expect(channelOffers(inventory({ enabled: true, error: "bad manifest" }))[0]!.off).toBe("bad manifest");
  expect(channelOffers(inventory({ reason: "overridden by config plugin" }))).toEqual([]);
});

test("texts of a form become what the schema wants, and the channel is turned on", () => {
  const section = sectionWith(offer(), {}, "default", { host: " irc.example ", port: "6697", rooms: "#a, #b", botToken: "" });
  expect(section).toEqual({ host: "irc.example", port: 6697, rooms: ["#a", "#b"], enabled: true });
});

test("an account beside the first gets a place of its own; what is there stays", () => {
  const config = { channels: { chat: { host: "one", port: 1 } } };
  expect(sectionWith(offer(), config, "work", { host: "two" })).toEqual({
    host: "one",
    port: 1,
    enabled: true,
    accounts: { default: {}, work: { host: "two", enabled: true } },
  });
});

test("what is missing or wrong is named by its path, all of it", () => {
  expect(() => sectionWith(offer(), {}, "default", {})).toThrow("Chat needs Host (host)");
  expect(() => sectionWith(offer(), {}, "default", { host: "x", port: "many", colour: "red" })).toThrow(
    /channels\.chat\.port.*channels\.chat\.colour|channels\.chat\.colour.*channels\.chat\.port/,
  );
  expect(() => findOffer(channelOffers(inventory()), "chta")).toThrow("did you mean chat?");
});

describe("a channel with two ways to connect", () => {
  const schema = {
    type: "object",
    additionalProperties: false,
    properties: {
      mode: { enum: ["plain", "hook"] },
      token: { type: "string", "x-sensitive": true },
      secret: { type: "string", "x-sensitive": true },
      path: { type: "string" },
      enabled: { type: "boolean" },
    },
  };
  const isHook = { path: "mode", is: "hook" };
  const uiHints = {
    mode: { label: "Way", choices: { plain: "Plain", hook: "With a hook", gone: "Not in the schema" } },
    token: { required: true, when: { path: "mode", is: "plain" } },
    secret: { required: true, when: isHook },
    path: { placeholder: "/hook", when: isHook },
  };
  const setupSteps = [
    {
      text: "Paste this.",
      copy: [
        { text: "plain", when: { path: "mode", is: "plain" } },
        { text: "{gateway}{path} {other}", when: isHook },
      ],
    },
    { text: "Copy the secret.", when: isHook },
  ];
  const made = () => offer({ schema, uiHints, setupSteps });

  test("its form has the choices under their labels, and says which fields are for which", () => {
    expect(made().fields).toMatchObject([
      {
        path: "mode",
        choices: [
          { value: "plain", label: "Plain" },
          { value: "hook", label: "With a hook" },
        ],
      },
      { path: "token", when: { path: "mode", is: "plain" } },
      { path: "secret", when: isHook },
      { path: "path", when: isHook },
    ]);
  });

  test("only what the chosen way needs is required", () => {
    expect(sectionWith(made(), {}, "default", { token: "t" })).toEqual({ token: "t", enabled: true });
    expect(sectionWith(made(), {}, "default", { mode: "hook", secret: "s" })).toEqual({ mode: "hook", secret: "s", enabled: true });
    expect(() => sectionWith(made(), {}, "default", { mode: "hook", token: "t" })).toThrow("Chat needs Secret (secret)");
    expect(() => sectionWith(made(), { channels: { chat: { mode: "hook" } } }, "default", { token: "t" })).toThrow("secret");
  });

  test("its steps are those of the chosen way, with the text to paste filled in", () => {
    expect(stepsFor(made(), {})).toEqual([{ text: "Paste this.", copy: "plain" }]);
    expect(stepsFor(made(), { mode: "hook" }, "https://claw.example.com")).toEqual([
      { text: "Paste this.", copy: "https://claw.example.com/hook {other}" },
      { text: "Copy the secret." },
    ]);
    expect(stepsFor(made(), { mode: "hook", path: "/x" })[0]!.copy).toBe("https://gateway.example/x {other}");
  });
});

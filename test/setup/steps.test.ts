import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { configure } from "../../src/setup/configure.ts";
import { createDraft } from "../../src/setup/draft.ts";
import { onboard } from "../../src/setup/onboard.ts";
import { at } from "./place.ts";
import { GOES_ON, LEAVE, person, openSetup } from "./fixture.ts";

const KEY = "sk-CANARY-0123456789abcdefghijkl";
describe("the first setup, asked", () => {
  test("QuickStart asks for the model and the channels, and nothing about the gateway", async () => {
    const { place, config } = await openSetup();
    const { ask, asked } = person({ ...GOES_ON, "Which model do you want to use?": "openai-api-key", "OpenAI API key": KEY });
    const result = await onboard(place, { ask, answers: { skip: { health: true } }, command: "test" });
    expect(asked.filter((message) => !message.startsWith("note"))).toEqual([
      "I understand what an agent can do. Continue?",
      "Setup mode",
      "Which model do you want to use?",
      "OpenAI API key",
      expect.stringContaining("Which channels"),
      expect.stringContaining("Which hooks"),
      "Start the gateway with this machine, as a service?",
    ]);
    expect(result).toMatchObject({ mode: "local", model: "openai/gpt-5.2", gateway: { port: 18789, bind: "loopback", authMode: "token" } });
    expect(config()).toMatchObject({ agents: { defaults: { model: { primary: "openai/gpt-5.2" } } } });
  });

  test("hooks that are chosen are on, the others are off by name; without one nothing is written", async () => {
    const chosen = await openSetup();
    const answers = { ...GOES_ON, "Which model do you want to use?": "openai-api-key", "OpenAI API key": KEY };
    await chosen.run({ ...answers, "Which hooks": ["session-memory"] });
    const off = { enabled: false };
    expect(chosen.config()).toMatchObject({
      hooks: {
        internal: { enabled: true, entries: { "session-memory": { enabled: true }, "boot-md": off, "command-logger": off, "bootstrap-extra-files": off } },
      },
    });
    const none = await openSetup();
    await none.run({ ...answers, "Which hooks": [] });
    expect(none.config()).not.toHaveProperty("hooks");
  });

  test("Manual asks for everything", async () => {
    const { run, config } = await openSetup();
    const answers = {
      ...GOES_ON,
      "Setup mode": "advanced",
      "Where should": "local",
      "Agent workspace": "~/files",
      "Which model do you want to use?": "apiKey",
      "Anthropic API key": KEY,
      "Default model": "claude-sonnet-4-5",
      Port: "4321",
      "Expose it": "off",
      "Who can": "lan",
      "How do": "password",
      Password: "open sesame",
      "Package manager": "pnpm",
    };
    expect(await run(answers)).toMatchObject({ gateway: { port: 4321, bind: "lan", authMode: "password" }, model: "anthropic/claude-sonnet-4-5" });
    expect(config()).toMatchObject({
      gateway: { port: 4321, bind: "lan", auth: { mode: "password", password: "open sesame" } },
      skills: { install: { nodeManager: "pnpm" } },
    });
    expect(at(config(), "agents.defaults.workspace")).toMatch(/\/files$/);
  });

  test("a gateway elsewhere: its address and token, and that is all", async () => {
    const { run, config } = await openSetup();
    const answers = { ...GOES_ON, "Setup mode": "advanced", "Where should": "remote", URL: "wss://gw.example", "Token (": "a-remote-token-012345" };
    expect(await run(answers)).toMatchObject({ mode: "remote", auth: "token" });
    expect(config()).toMatchObject({ gateway: { mode: "remote", remote: { url: "wss://gw.example" } } });
  });

  test("a key that is there already is offered first, and is not stored again", async () => {
    const { place } = await openSetup(undefined, { OPENAI_API_KEY: KEY });
    const { ask, offered } = person({ ...GOES_ON, "Which model do you want to use?": "openai-api-key", "Use the existing": true });
    expect(await onboard(place, { ask, answers: { skip: { health: true } }, command: "test" })).toMatchObject({ model: "openai/gpt-5.2" });
    expect(offered["Which model do you want to use?"]![0]).toBe("skip");
    expect(await (await place.auth()).list()).toEqual([]);
  });

  test("nothing now: whatever is there answers", async () => {
    const { run, config } = await openSetup();
    expect(await run({ ...GOES_ON, "Which model do you want to use?": "skip" })).toMatchObject({ authChoice: "skip" });
    expect(at(config(), "agents.defaults.model")).toBeUndefined();
  });
});

describe("a configuration that is there", () => {
  const MINE = `{\n  // mine\n  gateway: { mode: "local", port: 4321, auth: { token: "a-token-of-mine-0123456789" } },\n  agents: { defaults: { model: { primary: "anthropic/claude-opus-4-6" } } },\n}\n`;

  test("kept: only what is missing is asked for, and remarks stay", async () => {
    const { place, text } = await openSetup(MINE);
    const { ask, asked } = person({ ...GOES_ON, "Existing configuration": "keep" });
    expect(await onboard(place, { ask, answers: { flow: "advanced", mode: "local", skip: { health: true, skills: true } }, command: "test" })).toMatchObject({
      gateway: { port: 4321 },
    });
    expect(asked.some((message) => /Which model|Port|Who can/.test(message))).toBe(false);
    expect(text()).toMatch(/\/\/ mine\n/);
    expect(text()).toContain("a-token-of-mine-0123456789");
  });

  test("modified: everything is asked for, with what is set as the answer", async () => {
    const { run } = await openSetup(MINE);
    const answers = { ...GOES_ON, "Existing configuration": "modify", "Which model do you want to use?": "skip" };
    expect(await run(answers, { flow: "advanced" })).toMatchObject({ model: "anthropic/claude-opus-4-6", gateway: { port: 4321 } });
  });

  test("reset: what is there is put away at the end, not before", async () => {
    const { run, home, text, config } = await openSetup(MINE);
    const answers = { ...GOES_ON, "Existing configuration": "reset", "want to reset": "config", "Which model do you want to use?": "skip" };
    await expect(run({ ...answers, "Which channels": LEAVE })).rejects.toMatchObject({ code: "CANCELLED" });
    expect(text()).toBe(MINE);
    const { committed } = await run(answers);
    expect(committed.removed).toMatchObject([{ from: join(home, "openclaw.json") }]);
    expect(readFileSync(committed.removed[0]!.to, "utf8")).toBe(MINE);
    expect(config()).toMatchObject({ gateway: { port: 18789 } });
    expect(at(config(), "agents.defaults.model")).toBeUndefined();
  });

  test("left at any question, the file and the credentials are as they were", async () => {
    const { place, text } = await openSetup(MINE);
    const answers: Record<string, unknown> = {
      ...GOES_ON,
      "Existing configuration": "modify",
      "Which model do you want to use?": "openai-api-key",
      "OpenAI API key": KEY,
    };
    const { ask, asked } = person(answers);
    await onboard(place, { ask, answers: { flow: "advanced", skip: { health: true } }, command: "test" });
    const questions = asked.filter((message) => !message.startsWith("note"));
    expect(questions.length).toBeGreaterThan(10);
    for (const question of questions) {
      const fresh = await openSetup(MINE);
      // A path in it is another one each time.
      const leaving = { [question.replace(/: \/.*/, "")]: LEAVE };
      await expect(fresh.run({ ...leaving, ...answers, ...leaving }, { flow: "advanced" })).rejects.toMatchObject({ code: "CANCELLED" });
      expect([fresh.text(), await (await fresh.place.auth()).list(), existsSync(join(fresh.home, "state"))]).toEqual([MINE, [], false]);
    }
    expect(text()).toContain("gpt-5.2");
  });
});

describe("configure", () => {
  test("web: who searches, and with which key", async () => {
    const { place, config } = await openSetup("{}");
    const { ask } = person({ "Allow agents to search": true, "Search service": "perplexity", "API key": KEY, "Allow agents to open": false });
    expect(await configure(place, ask, ["web"])).toMatchObject({ sections: ["web"] });
    expect(at(config(), "tools.web")).toMatchObject({
      search: { enabled: true, provider: "perplexity", perplexity: { apiKey: KEY } },
      fetch: { enabled: false },
    });
  });

  test("without a section it asks which; none is leaving", async () => {
    const { place } = await openSetup("{}");
    await expect(configure(place, person({ "What do you want": [] }).ask, [])).rejects.toMatchObject({ code: "CANCELLED" });
    const { ask } = person({ "What do you want": ["workspace"], "Agent workspace": "~/elsewhere" });
    expect(await configure(place, ask, [])).toMatchObject({ sections: ["workspace"] });
  });
});

describe("a draft", () => {
  test("shows what would be, and is in no file before it is committed", async () => {
    const { place, text } = await openSetup("{ gateway: { port: 1 } }");
    const draft = createDraft(place);
    draft.merge({ gateway: { bind: "lan" } });
    draft.become({ ...draft.config, gateway: { bind: "lan" } });
    draft.credential("openai:default", { type: "api_key", provider: "openai", key: KEY });
    expect(draft.config.gateway).toEqual({ bind: "lan" });
    expect([text(), await (await place.auth()).list()]).toEqual(["{ gateway: { port: 1 } }", []]);
    await draft.commit("test");
    expect(place.config.current).toMatchObject({ gateway: { bind: "lan" }, auth: { profiles: { "openai:default": { provider: "openai", mode: "api_key" } } } });
    expect(place.config.current.gateway?.port).toBeUndefined();
    expect(text()).not.toContain(KEY);
  });

  test("one that the configuration does not take stores no file", async () => {
    const { place, text } = await openSetup("{}");
    const draft = createDraft(place);
    draft.merge({ gateway: { port: "many" } });
    await expect(draft.commit("test")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(text()).toBe("{}");
  });
});

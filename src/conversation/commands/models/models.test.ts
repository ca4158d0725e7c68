import { describe, expect, test } from "vitest";
import { chosenModel, setup } from "../commands.fixture.ts";
import { score } from "./match.ts";

describe("/model", () => {
  test("alone tells what is used and how to go on", async () => {
    expect(await setup().say("/model")).toBe("Model: anthropic/claude-opus-4-6\nSwitch: /model provider/model\nBrowse: /models\nMore: /model status");
  });

  test.each([
    ["openai/gpt-5.2", "openai/gpt-5.2"],
    ["OpenAI/GPT-5.2", "openai/gpt-5.2"],
    ["claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"],
    ["sonnet", "anthropic/claude-sonnet-4-6"],
    ["gpt mini", undefined],
    ["gpt5mini", "openai/gpt-5-mini"],
    ["claude-sonet-4-6", "anthropic/claude-sonnet-4-6"],
    ["glm", "zai/glm-5"],
  ])("%s chooses %s", async (text, ref) => {
    const made = setup();
    await made.run(`/model ${text}`);
    expect(chosenModel(made.entry())).toBe(ref);
  });

  test.each(["nonsense-model", "3", "#2", "openai/nope-9000-x", "__proto__"])("%s chooses nothing", async (text) => {
    const made = setup();
    await made.run(`/model ${text}`);
    expect(made.log).toEqual([]);
  });

  test("the default needs no override", async () => {
    const made = setup({ entry: { providerOverride: "openai", modelOverride: "gpt-5.2" } });
    expect(await made.say("/model anthropic/claude-opus-4-6")).toBe("Model reset to the default (anthropic/claude-opus-4-6).");
    expect(chosenModel(made.entry())).toBeUndefined();
    expect(made.log.at(-1)).toBe("event The model of this session is now anthropic/claude-opus-4-6.");
    expect(await made.say("/model default")).toContain("reset to the default");
  });

  test("only what the configuration allows", async () => {
    const config = { agents: { defaults: { models: { "openai/gpt-5-mini": { alias: "mini" }, "custom/thing": {} } } } };
    const made = setup({ config });
    expect(await made.say("/model openai/gpt-5.2")).toBe('Model "openai/gpt-5.2" is not allowed. Use /model to list available models.');
    expect(await made.say("/model MINI")).toBe("Model set to mini (openai/gpt-5-mini).");
    expect(await made.say("/model custom/thing")).toBe("Model set to custom/thing.");
    expect(await made.say("/models")).toBe("**Providers**\n- anthropic (1)\n- custom (1)\n- openai (1)\nModels of a provider: /models <provider>");
  });

  test("with a credential, if it is one", async () => {
    const made = setup();
    expect(await made.say("/model openai/gpt-5.2@openai:home")).toBe('Unknown credential "openai:home" for openai. There is: openai:work.');
    expect(made.log).toEqual([]);
    expect(await made.say("/model openai/gpt-5.2@openai:work")).toBe("Model set to openai/gpt-5.2. Credential: openai:work.");
    expect(made.entry()).toMatchObject({ authProfileOverride: "openai:work", authProfileOverrideSource: "user" });
    await made.say("/model openai/gpt-5-mini");
    expect(made.entry()).not.toHaveProperty("authProfileOverride");
  });

  test("lowers a level that the model does not know", async () => {
    const made = setup({ entry: { providerOverride: "openai", modelOverride: "gpt-5.2", thinkingLevel: "xhigh" } });
    expect(await made.say("/model sonnet")).toContain("Thinking lowered to high");
    expect(made.entry()).toMatchObject({ thinkingLevel: "high" });
  });

  test("status names providers by labels, without secrets", async () => {
    const text = await setup().say("/model status");
    expect(text).toContain("- openai · https://api.openai.com/v1 · openai-responses · openai:work: key ***");
    expect(text).toMatch(/Current: anthropic\/claude-opus-4-6\nDefault: anthropic\/claude-opus-4-6\nAgent: main/);
    expect(text).not.toContain("sk-secret");
  });
});

describe("/models", () => {
  const many = Array.from({ length: 45 }, (_, index) => ({ provider: "big", id: `m-${index + 1}` }));
  const standard = { provider: "big", id: "m-1" };
  const models = {
    list: () => Promise.resolve(many),
    standard: () => Promise.resolve(standard),
    current: () => Promise.resolve(standard),
    levels: () => Promise.resolve([]),
  };
  const shown = async (args: string): Promise<string[]> =>
    (await setup({ ports: { models } }).say(`/models ${args}`)).split("\n").filter((line) => line.startsWith("- "));

  test("shows providers, with buttons", async () => {
    expect(await setup().run("/model list")).toMatchObject({
      reply: [
        {
          text: expect.stringContaining("- anthropic (3)"),
          channelData: {
            telegram: { buttons: [[{ callback_data: "/models anthropic" }, { callback_data: "/models openai" }], [{ callback_data: "/models zai" }]] },
          },
        },
      ],
    });
  });

  test.each([
    ["big", 20, "big/m-1"],
    ["big 3", 5, "big/m-41"],
    ["BIG page=2", 20, "big/m-21"],
    ["big limit=30 page=2", 15, "big/m-31"],
    ["big limit=999", 45, "big/m-1"],
    ["big all", 45, "big/m-1"],
    ["big 99", 5, "big/m-41"],
    ["big 0", 20, "big/m-1"],
  ])("%s", async (args, number, first) => {
    const lines = await shown(args);
    expect(lines).toHaveLength(number);
    expect(lines[0]).toBe(`- ${first}`);
  });

  test("turns pages by command and by button", async () => {
    const verdict = await setup({ ports: { models } }).run("/models big 2");
    expect(verdict).toMatchObject({ reply: [{ text: expect.stringMatching(/45 models, page 2 of 3[\s\S]*Next: \/models big 3/) }] });
    expect(JSON.stringify(verdict)).toContain('{"text":"« Back","callback_data":"/models big 1"}');
  });

  test("a provider that is none", async () => {
    expect(await setup().say("/models bogus")).toContain('No models of "bogus".');
  });
});

test("the better a name fits the more it counts", () => {
  const points = ["claude-sonnet-4-6", "claude", "sonnet", "4-6 claude", "gpt", ""].map((typed) => score(typed, "claude-sonnet-4-6"));
  expect(points).toEqual([1, 0.9, 0.8, 0.75, 0, 0]);
});

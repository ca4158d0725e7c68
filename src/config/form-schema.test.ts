import { describe, expect, test } from "vitest";
import { configSchema } from "./schema/index.ts";
import { exportSchema, uiHints } from "./form-schema.ts";
import { isSensitivePath, validate, type ConfigSections } from "./validate/index.ts";

const hints = uiHints(configSchema);
const sections: ConfigSections = {
  channels: {
    tree: {
      $schema: "http://json-schema.org/draft-07/schema#",
      $ref: "#/definitions/node",
      definitions: {
        node: { type: "object", properties: { child: { $ref: "#/definitions/node" }, n: { type: "integer", title: "How many" } }, additionalProperties: false },
      },
    },
    plain: { type: "object", properties: { pin: { type: "string", "x-sensitive": true } }, additionalProperties: false },
  },
  plugins: { voice: { type: "object", properties: { rate: { type: "number" } }, additionalProperties: false } },
};

describe("hints for forms", () => {
  test.each([
    ["agents.defaults.maxConcurrent", "Max concurrent"],
    ["models.providers.*.baseUrl", "Base URL"],
    ["models.providers.*.apiKey", "API key"],
    ["agents.list[].id", "ID"],
    ["gateway.tls", "TLS"],
    ["messages.tts", "TTS"],
    ["messages.queue.byChannel.imessage", "iMessage"],
    ["messages.queue.debounceMs", "Debounce (ms)"],
    ["session.dmScope", "DM scope"],
  ])("%s is labelled %j", (path, label) => {
    expect(hints[path]).toMatchObject({ label, help: expect.stringMatching(/\.$/) });
  });

  test("secrets and rarely needed keys are marked", () => {
    expect(hints["gateway.auth.token"]).toMatchObject({ sensitive: true });
    expect(hints["skills.entries.*.env.*"]).toMatchObject({ sensitive: true });
    expect(hints["agents.defaults.cliBackends"]).toMatchObject({ advanced: true });
    expect(hints["gateway.port"]).not.toHaveProperty("sensitive");
  });

  test("what plugins bring is there as well", () => {
    expect(uiHints(exportSchema(sections))).toMatchObject({
      "channels.plain.pin": { label: "Pin", sensitive: true },
      "plugins.entries.voice.config.rate": { label: "Rate" },
    });
  });
});

describe("the exported schema", () => {
  const schema = exportSchema(sections);

  test("is draft-07 and plain JSON", () => {
    expect(schema["$schema"]).toBe("http://json-schema.org/draft-07/schema#");
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  test("checks what plugins bring, references included", () => {
    const config = {
      channels: { tree: { child: { child: { n: "x" } } }, plain: { pon: 1 } },
      plugins: { entries: { voice: { enabled: true, config: { rate: "1" } } } },
    };
    expect(validate(schema, config).map(({ path, code }) => `${path.join(".")} ${code}`)).toEqual([
      "channels.tree.child.child.n type",
      "channels.plain.pon unknown-key",
      "plugins.entries.voice.config.rate type",
    ]);
  });

  test("is ours alone when nothing is brought", () => {
    expect(exportSchema().properties).toEqual(configSchema.properties);
  });
});

describe("secret paths", () => {
  test.each([
    [["gateway", "auth", "token"]],
    [["models", "providers", "openai", "headers", "x-key"]],
    [["models", "providers", "openai", "models", 0, "headers", "x-key"]],
    [["agents", "list", 3, "memorySearch", "remote", "apiKey"]],
    [["env", "MY_VARIABLE"]],
    [["env", "vars", "MY_VARIABLE"]],
    [["skills", "entries", "weather", "env", "KEY"]],
    [["hooks", "mappings", 0, "sessionKey"]],
    [["agents", "defaults", "sandbox", "docker", "env", "X"]],
    [["store", "url"]],
    [["channels", "telegram", "botToken"]],
    [["channels", "irc", "accounts", "a", "nickserv", "password"]],
    [["channels", "slack", "signingSecret"]],
    [["channels", "googlechat", "serviceAccount", "private_key"]],
    [["channels", "googlechat", "serviceAccount"]],
    [["channels", "x", "headers", "authorization"]],
    [["plugins", "entries", "voice-call", "config", "twilio", "authToken"]],
    [["plugins", "entries", "memory-lancedb", "config", "embedding", "api_key"]],
  ])("%j is one", (path) => {
    expect(isSensitivePath(path)).toBe(true);
  });

  test.each([
    [["gateway", "port"]],
    [["gateway", "auth", "mode"]],
    [["gateway", "auth", "token", "source"]],
    [["env", "shellEnv", "enabled"]],
    [["agents", "defaults", "contextTokens"]],
    [["channels", "x", "maxTokens"]],
    [["channels", "x", "tokenBudget"]],
    [["channels", "irc", "passwordFile"]],
    [["channels", "telegram", "tokenFile"]],
    [["channels", "telegram", "botToken", "id"]],
    [["channels", "secret-club"]],
    [["plugins", "entries", "token", "enabled"]],
    [["nowhere", "at", "all"]],
    [[]],
  ])("%j is none", (path) => {
    expect(isSensitivePath(path)).toBe(false);
  });

  test("plugins can mark their own", () => {
    expect([isSensitivePath(["channels", "plain", "pin"]), isSensitivePath(["channels", "plain", "pin"], sections)]).toEqual([false, true]);
  });
});

import { expect, test } from "vitest";
import { parseDocument } from "./document/document.ts";
import { REDACTED, redactConfig, redactText, restoreRedacted, tellSecrets } from "./redact.ts";

const CONFIG = {
  gateway: { port: 1, auth: { token: "canary-gateway", password: "${PASSWORD}" } },
  env: { OPENAI_API_KEY: "canary-env", vars: { X: "canary-vars" } },
  models: { providers: { p: { baseUrl: "http://x", apiKey: "canary-key", headers: { Authorization: "canary-header" }, models: [] } } },
  skills: { entries: { s: { apiKey: { source: "env", id: "S_KEY" }, env: { TOKEN: "canary-skill" } } } },
  channels: {
    telegram: { botToken: "canary-telegram", accounts: { two: { botToken: "canary-two" } }, historyLimit: 5 },
    googlechat: { serviceAccount: { client_email: "a@b", private_key: "canary-private" } },
    custom: { accessToken: "canary-custom", maxTokens: 5, passwordFile: "/p" },
  },
  plugins: { entries: { x: { config: { apiKey: "canary-plugin", tokenBudget: 7 } } } },
};

test("no secret is shown, and what is none is", () => {
  const shown = redactConfig(CONFIG);
  expect(JSON.stringify(shown)).not.toContain("canary");
  expect(shown).toMatchObject({
    gateway: { port: 1, auth: { token: REDACTED, password: "${PASSWORD}" } },
    skills: { entries: { s: { apiKey: { source: "env", id: "S_KEY" } } } },
    channels: { telegram: { historyLimit: 5 }, custom: { maxTokens: 5, passwordFile: "/p" } },
    plugins: { entries: { x: { config: { tokenBudget: 7 } } } },
  });
});

test("the text of the file is shown without them, remarks included", () => {
  const document = parseDocument(`// was canary-gateway before\n${JSON.stringify(CONFIG, null, 2)}`);
  const shown = redactText(document);
  expect(shown).not.toContain("canary");
  expect(parseDocument(shown).value).toEqual(redactConfig(CONFIG));
  expect(redactText(parseDocument('{ token: "canary'))).toBe(REDACTED);
});

test("a secret that reads like an ordinary word changes nothing but itself and remarks", () => {
  const text = '{ env: { MODE: "telegram" }, channels: { telegram: { name: "telegram" } } } // telegram';
  expect(redactText(parseDocument(text))).toBe(`{ env: { MODE: "${REDACTED}" }, channels: { telegram: { name: "telegram" } } } // ${REDACTED}`);
});

test("every secret is told to the log", () => {
  const told: string[] = [];
  tellSecrets(CONFIG, (value) => told.push(value));
  expect(told.filter((value) => value.startsWith("canary")).sort()).toEqual([
    "canary-custom", "canary-env", "canary-gateway", "canary-header", "canary-key", "canary-plugin", "canary-private", "canary-skill", "canary-telegram", "canary-two", "canary-vars",
  ]); // prettier-ignore
});

test("what was shown can be sent back", () => {
  expect(restoreRedacted(redactConfig(CONFIG), CONFIG)).toEqual(CONFIG);
  expect(
    restoreRedacted(
      { list: [{ id: "b", key: REDACTED }] },
      {
        list: [
          { id: "a", key: "A" },
          { id: "b", key: "B" },
        ],
      },
      { byId: true },
    ),
  ).toEqual({ list: [{ id: "b", key: "B" }] });
  expect(() => restoreRedacted({ a: { b: REDACTED } }, { a: {} })).toThrow(`Sentinel value "${REDACTED}" in key a.b is not valid as real data`);
  expect(() => restoreRedacted({ a: `x${REDACTED}` }, { a: "y" })).toThrow("is not valid as real data");
});

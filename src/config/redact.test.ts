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

test("every secret is reported to the log's redaction", () => {
  const reported: string[] = [];
  tellSecrets(CONFIG, (value) => reported.push(value));
  expect(reported.filter((value) => value.startsWith("canary")).sort()).toEqual([
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
    ),
  ).toEqual({ list: [{ id: "b", key: "B" }] });
  expect(() => restoreRedacted({ a: { b: REDACTED } }, { a: {} })).toThrow(`Sentinel value "${REDACTED}" in key a.b is not valid as real data`);
  expect(() => restoreRedacted({ a: `x${REDACTED}` }, { a: "y" })).toThrow("is not valid as real data");
});

test("a hidden secret in a list goes with its item, not with its place", () => {
  const people = { list: [{ id: "a", key: "A" }, { id: "b", key: "B" }] }; // prettier-ignore
  expect(restoreRedacted({ list: [{ id: "b", key: REDACTED }] }, people)).toEqual({ list: [{ id: "b", key: "B" }] });
  expect(
    restoreRedacted(
      {
        list: [
          { id: "renamed", key: REDACTED },
          { id: "b", key: REDACTED },
        ],
      },
      people,
    ),
  ).toEqual({
    list: [
      { id: "renamed", key: "A" },
      { id: "b", key: "B" },
    ],
  });
  // A new one in front of another does not take that one's secret.
  expect(() =>
    restoreRedacted(
      {
        list: [
          { id: "new", key: REDACTED },
          { id: "a", key: REDACTED },
        ],
      },
      people,
    ),
  ).toThrow("in key list[0].key");
});

test("when items without an id went, a hidden secret is found by the rest of its item, or not at all", () => {
  const servers = { list: [{ url: "x", key: "X" }, { url: "y", key: "Y" }] }; // prettier-ignore
  expect(restoreRedacted({ list: [{ url: "y", key: REDACTED }] }, servers)).toEqual({ list: [{ url: "y", key: "Y" }] });
  expect(
    restoreRedacted(
      {
        list: [
          { url: "new", key: "N" },
          { url: "x", key: REDACTED },
        ],
      },
      servers,
    ),
  ).toEqual({
    list: [
      { url: "new", key: "N" },
      { url: "x", key: "X" },
    ],
  });
  expect(() => restoreRedacted({ keys: [REDACTED] }, { keys: ["one", "two"] })).toThrow("is not valid as real data");
  expect(restoreRedacted({ keys: [REDACTED, "three"] }, { keys: ["one", "two"] })).toEqual({ keys: ["one", "three"] });
});

test("where it is asked for, lost secrets are reported all at once", () => {
  const lost: string[] = [];
  restoreRedacted({ a: REDACTED, b: { c: REDACTED }, d: REDACTED }, { d: 1 }, { onLost: (path) => lost.push(path.join(".")) });
  expect(lost).toEqual(["a", "b.c"]);
});

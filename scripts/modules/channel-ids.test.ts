import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CHANNEL_IDS } from "../../src/config/index.ts";
import { readSources } from "./sources.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The catalogue, what plugins are written against, the configuration's own words, and what reads older ones. */
const ALLOWED = /^src\/(?:config\/(?:known-channels\.ts$|schema\/|migrate\/)|plugins\/(?:sdk|runtime)\/)/;

/** Where such a word is something else, or text for people. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/channels/rich-text/markers.ts": "slack: is a scheme of links",
  "src/automation/webhooks/mappings.ts": "slack is a preset of signed webhooks, beside github and stripe",
  "src/automation/webhooks/signature.ts": "slack is a preset of signed webhooks, beside github and stripe",
  "src/config/validate/rules/automation.ts": "slack is a preset of signed webhooks, beside github and stripe",
  "src/config/validate/rules/names.ts": "slack is a preset of signed webhooks, beside github and stripe",
  "src/gateway/http/hooks.ts": "slack is a preset of signed webhooks, beside github and stripe",
  "src/cli/commands/channels/setup-input.ts": "imessage is a service of the Messages app, beside sms",
  "src/protocol/methods/channels.ts": "the description of send names the documented default",
  "src/protocol/vocabulary/channel/account.ts": "imessage is a service of the Messages app, beside sms",
  "src/doctor/checks/legacy-state.ts": "moves the files of an older WhatsApp login",
};

/** Also ordinary words, or the chat of our own page. */
const ORDINARY = new Set(["signal", "line", "echo", "webchat"]);
const COMMENTS = /^\s*(?:\/\*[^]*?\*\/|\/\/.*$)/gm;

test("no code asks for a channel by its id: what differs between channels stands in the catalogue", () => {
  const ids = CHANNEL_IDS.filter((id) => !ORDINARY.has(id)).join("|");
  const named = new RegExp(`["'\`](?:${ids})["'\`]|(?:^|[{,])\\s*(?:${ids}): `, "m");
  const found = readSources(ROOT, "src")
    .map(({ path }) => path)
    .filter((path) => !ALLOWED.test(path) && named.test(readFileSync(join(ROOT, path), "utf8").replaceAll(COMMENTS, "")));
  expect(found.sort()).toEqual(Object.keys(EXCEPTIONS).sort());
});

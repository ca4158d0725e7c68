import { ruleIssue } from "../issue.ts";
import { isObject } from "../../value.ts";
import { quoted } from "../words.ts";
import { entriesAt, valueAt, type Rule } from "./rule.ts";

export const profilesHaveAddress: Rule = function* (config) {
  for (const { key, path, value } of entriesAt(config, "browser", "profiles")) {
    if (isObject(value) && value["cdpPort"] === undefined && value["cdpUrl"] === undefined) {
      yield ruleIssue(path, `the browser profile ${quoted(key)} needs cdpPort or cdpUrl`);
    }
  }
};

export const cronWebhookIsHttp: Rule = function* (config) {
  const webhook = valueAt(config, "cron", "webhook");
  if (typeof webhook === "string" && URL.canParse(webhook) && !/^https?:/i.test(webhook)) {
    yield ruleIssue(["cron", "webhook"], `expected an http or https address, found one with ${JSON.stringify(new URL(webhook).protocol)}`);
  }
};

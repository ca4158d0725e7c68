import { THINKING_LEVELS } from "../../../base/thinking.ts";
import { ruleIssue } from "../issue.ts";
import { describeFound, quoted } from "../words.ts";
import { entriesAt, isGiven, itemsAt, objectAt, valueAt, type Rule } from "./rule.ts";
import { isObject } from "../../value.ts";

export const hooksNeedToken: Rule = function* (config) {
  const hooks = objectAt(config, "hooks");
  if (hooks?.["enabled"] !== true) return;
  if (!isGiven(hooks["token"])) yield ruleIssue(["hooks", "enabled"], "hooks.enabled needs hooks.token: a secret that senders must know");
};

export const hooksTokenIsOwn: Rule = function* (config) {
  const token = valueAt(config, "hooks", "token");
  const gatewayToken = valueAt(config, "gateway", "auth", "token");
  if (typeof token !== "string" || typeof gatewayToken !== "string" || token.trim() === "") return;
  if (token.trim() === gatewayToken.trim()) {
    yield ruleIssue(["hooks", "token"], "is the same as gateway.auth.token: anyone who sends webhooks could control the gateway; use another");
  }
};

/** First parts of paths that the gateway answers itself. */
const TAKEN_PATHS = ["healthz", "readyz", "health", "ready", "v1", "api", "tools", "plugins", "__openclaw__", "__openclaw", "assets"];

export const hooksPathIsBelowRoot: Rule = function* (config) {
  const path = valueAt(config, "hooks", "path");
  if (typeof path !== "string" || path.trim() === "") return;
  const parts = path
    .trim()
    .replace(/^\/+|\/+$/g, "")
    .split("/");
  const [first = ""] = parts;
  if (parts.length === 1 && first === "") yield ruleIssue(["hooks", "path"], 'must not be "/": hooks need a separate path, such as /hooks');
  else if (!parts.every((part) => /^[\w~-][\w.~-]*$/.test(part)))
    yield ruleIssue(["hooks", "path"], `expected a path of letters, digits, "-", "_" and ".", such as /hooks, found ${describeFound(path, false)}`);
  else if (TAKEN_PATHS.includes(first)) yield ruleIssue(["hooks", "path"], `the gateway uses ${quoted(`/${first}`)} itself; choose another, such as /hooks`);
};

/** Mappings that no request reaches, and settings that every run of them would be refused for. */
export const hookMappingsWork: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "hooks", "mappings")) {
    if (!isObject(value)) continue;
    const { thinking, preset } = value;
    if (typeof thinking === "string" && !THINKING_LEVELS.some((level) => level === thinking.trim().toLowerCase()))
      yield ruleIssue([...path, "thinking"], `expected one of ${THINKING_LEVELS.join(", ")}, found ${describeFound(thinking, false)}`);
    const asked = valueAt(value, "match", "path");
    const name = typeof asked === "string" ? asked.trim().replace(/^\/+|\/+$/g, "") : undefined;
    if (preset === undefined && (name === "agent" || name === "wake"))
      yield ruleIssue([...path, "match", "path"], `no request reaches the mapping: ${quoted(name)} is a built-in path; choose another`, "warning");
  }
};

export const hookModulesAreRelative: Rule = function* (config) {
  const transforms = [...itemsAt(config, "hooks", "mappings")].map(({ path }) => [...path, "transform", "module"]);
  const handlers = [...itemsAt(config, "hooks", "internal", "handlers")].map(({ path }) => [...path, "module"]);
  for (const path of [...transforms, ...handlers]) {
    const module = valueAt(config, ...path);
    if (typeof module !== "string") continue;
    const isSafe = module.trim() !== "" && !/^[/\\~]/.test(module) && !module.includes(":") && !module.split(/[/\\]/).includes("..");
    if (!isSafe) yield ruleIssue(path, `expected a relative path without "..", "~" and ":", found ${describeFound(module, false)}`);
  }
};

/** Services whose requests are signed: anybody may send to them who has the secret. */
const SIGNED_PRESETS = ["github", "stripe", "slack"];

/** A mapping that would take requests without looking at their signature is no mapping. */
export const signedHooksHaveSecret: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "hooks", "mappings")) {
    if (!isObject(value)) continue;
    const { preset, secret } = value;
    if (preset !== undefined && !isGiven(secret))
      yield ruleIssue([...path, "secret"], "a mapping with a preset needs the secret that its requests are signed with");
    if (preset === undefined && secret !== undefined)
      yield ruleIssue([...path, "secret"], `a mapping with a secret needs preset, which says how requests are signed: ${SIGNED_PRESETS.join(", ")}`);
  }
  for (const { path, value } of itemsAt(config, "hooks", "presets")) {
    if (typeof value !== "string" || !SIGNED_PRESETS.includes(value.trim().toLowerCase())) continue;
    yield ruleIssue(path, `needs a secret: remove it here and add { preset: ${quoted(value)}, secret: "…" } to hooks.mappings`);
  }
};

/** A request without a session of its own gets `defaultSessionKey`, or one that begins with `hook:`. */
export const hookPrefixesAdmitDefault: Rule = function* (config) {
  const prefixes = [...itemsAt(config, "hooks", "allowedSessionKeyPrefixes")].map(({ value }) => value).filter((value) => typeof value === "string");
  if (prefixes.length === 0) return;
  const key = valueAt(config, "hooks", "defaultSessionKey");
  const wanted = typeof key === "string" && key.trim() !== "" ? key.trim() : "hook:";
  if (prefixes.some((prefix) => wanted.toLowerCase().startsWith(prefix.trim().toLowerCase()))) return;
  const what = wanted === "hook:" ? '"hook:", which sessions of hooks begin with,' : `the defaultSessionKey ${quoted(wanted)}`;
  yield ruleIssue(["hooks", "allowedSessionKeyPrefixes"], `does not allow ${what} so requests without a session key would be rejected; add a prefix for it`);
};

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

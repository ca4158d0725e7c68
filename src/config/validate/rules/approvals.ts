import { ruleIssue } from "../issue.ts";
import { quoted } from "../words.ts";
import { itemsAt, objectAt, valueAt, type Rule } from "./rule.ts";

const EXEC = ["approvals", "exec"] as const;

/** A user who enabled it relies on being asked. */
export const forwardingHasRecipients: Rule = function* (config) {
  const exec = objectAt(config, ...EXEC);
  if (exec?.["enabled"] !== true) return;
  const mode = exec["mode"];
  const targets = [...itemsAt(config, ...EXEC, "targets")];
  if ((mode === "targets" || mode === "both") && targets.length === 0) {
    yield ruleIssue(
      [...EXEC, "mode"],
      `${quoted(mode)} needs approvals.exec.targets: no chat is named, so ${mode === "both" ? "only the asking one" : "none"} is asked`,
      "warning",
    );
  }
  for (const { path, value } of mode === "targets" || mode === "both" ? targets : []) {
    const channel = valueAt(value, "channel");
    if (typeof channel !== "string" || channel.trim() === "" || objectAt(config, "channels", channel.trim())) continue;
    yield ruleIssue([...path, "channel"], `channels.${channel.trim()} is not configured: this chat is not asked`, "warning");
  }
};

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

export const sessionFiltersAreReadable: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, ...EXEC, "sessionFilter")) {
    if (typeof value !== "string" || isPattern(value)) continue;
    yield ruleIssue(path, `${quoted(value)} is no regular expression; it only fits keys that have exactly these characters in them`, "warning");
  }
};

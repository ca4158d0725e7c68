import { ruleIssue, withSuggestion } from "../issue.ts";
import { quoted } from "../words.ts";
import { agentIds, agentKey, itemsAt, objectAt, valueAt, type Rule } from "./rule.ts";

export const budgetsLimitSomething: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "usage", "budgets")) {
    if (!objectAt(value) || valueAt(value, "usd") !== undefined || valueAt(value, "tokens") !== undefined) continue;
    yield ruleIssue(path, "limits nothing; give it usd, tokens or both");
  }
};

/** A warning only: an agent may go while its budget stays. */
export const budgetAgentsExist: Rule = function* (config) {
  const { ids } = agentIds(config);
  for (const { path, value } of itemsAt(config, "usage", "budgets")) {
    const id = valueAt(value, "agent");
    if (typeof id !== "string" || id.trim() === "*" || ids.has(agentKey(id))) continue;
    const hint = withSuggestion(`no agent has the id ${quoted(id)}: nothing is counted`, agentKey(id), ids);
    yield { ...ruleIssue([...path, "agent"], hint.message, "warning"), ...hint };
  }
};

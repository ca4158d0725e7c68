import { ruleIssue, withSuggestion } from "../issue.ts";
import { quoted } from "../words.ts";
import { agentIds, agentKey, entriesAt, itemsAt, objectAt, valueAt, type Rule } from "./rule.ts";

/** Parameters of a model that reach a provider's request in at least one wire format. */
const MODEL_PARAMS = [
  "temperature",
  "maxTokens",
  "topP",
  "topK",
  "seed",
  "stop",
  "frequencyPenalty",
  "presencePenalty",
  "parallelToolCalls",
  "textVerbosity",
  "serviceTier",
  "fastMode",
  "cacheRetention",
  "cacheControlTtl",
  "context1m",
  "anthropicBeta",
  "toolStream",
  "provider",
  "numCtx",
  "extraBody",
] as const;

const camelCase = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const known: ReadonlySet<string> = new Set(MODEL_PARAMS);

/** A parameter that no request carries is named, not dropped in silence. */
export const modelParamsAreKnown: Rule = function* (config) {
  for (const model of entriesAt(config, "agents", "defaults", "models")) {
    for (const { key, path, value } of entriesAt(model.value, "params")) {
      const at = [...model.path, ...path];
      const name = camelCase(key);
      if (name === "transport") {
        if (value !== "sse" && value !== "auto")
          yield ruleIssue(at, `${quoted(String(value))} is not available: answers come as server-sent events`, "warning");
      } else if (!known.has(name)) {
        const hint = withSuggestion("is not a known parameter and is not sent; put provider-specific fields into extraBody", name, known);
        yield { ...ruleIssue(at, hint.message, "warning"), ...hint };
      }
    }
  }
};

export const budgetsLimitSomething: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "usage", "budgets")) {
    if (!objectAt(value) || valueAt(value, "usd") !== undefined || valueAt(value, "tokens") !== undefined) continue;
    yield ruleIssue(path, "limits nothing; set usd, tokens or both");
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

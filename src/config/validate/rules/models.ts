import { ruleIssue, withSuggestion } from "../issue.ts";
import { quoted } from "../words.ts";
import { entriesAt, type Rule } from "./rule.ts";

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
        const hint = withSuggestion("is no parameter that is known here and is not sent; fields of the provider's own go into extraBody", name, known);
        yield { ...ruleIssue(at, hint.message, "warning"), ...hint };
      }
    }
  }
};

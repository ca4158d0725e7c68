import { formatDuration } from "../../base/text.ts";
import { isKept, type Config } from "../../config/index.ts";
import type { Check, Finding } from "../finding.ts";

const SKIPPED: readonly Finding[] = [{ part: "skipped", level: "info", text: "not checked: the configuration has errors" }];

/** Undefined: the configuration file names the models in use. */
function notLookedAt(config: Config): readonly Finding[] | undefined {
  const { valid, exists, path } = config.snapshot();
  if (!valid) return SKIPPED;
  if (exists || !isKept(config.paths.state, path)) return undefined;
  return [{ part: "skipped", level: "info", text: `not checked: ${path} is missing and the last good configuration is in use` }];
}

/** Who answers, and whether it can. */
export const defaultModel: Check = {
  id: "models.default",
  topic: "models",
  title: "Default model",
  async run({ config, models }) {
    const skipped = notLookedAt(config);
    if (skipped) return skipped;
    const { model, source, reason, warnings, missing, problemWith } = await models();
    if (source === "offline")
      return [
        {
          part: "offline",
          level: "info",
          text: `no key and no local model; ${model}, the built-in offline model, answers with limited abilities`,
          todo: "openclaw models auth add, or openclaw onboard",
        },
      ];
    const problem = problemWith(model);
    return [
      ...(problem === undefined
        ? []
        : [{ part: "unknown", level: "error", text: problem, todo: "openclaw models list, then openclaw models set <model>" } as const]),
      ...warnings.map((text, index): Finding => ({ part: `warning-${index + 1}`, level: "warn", text, todo: "openclaw models status" })),
      ...missing.map((provider): Finding => ({
        part: provider,
        level: "error",
        text: `no key for ${provider}, which is in use (${model}: ${reason})`,
        todo: `openclaw models auth add --provider ${provider}, or set its environment variable`,
      })),
    ];
  },
};

/** Keys and logins that are there, but not of use. */
export const modelKeys: Check = {
  id: "models.keys",
  topic: "models",
  title: "Keys and logins",
  async run({ config, models }) {
    const skipped = notLookedAt(config);
    if (skipped) return skipped;
    const { resting, logins } = await models();
    return [
      ...resting.map(({ profileId, kind, why, remainingMs }): Finding => {
        const rest = remainingMs === undefined ? "" : ` for ${formatDuration(remainingMs)} more`;
        if (kind === "unusable")
          return { part: profileId, level: "warn", text: `${profileId} cannot be used: ${why}`, todo: "store it again: openclaw models auth add" };
        const todo = kind === "disabled" ? "check your billing with the provider; it is retried automatically" : "it is retried automatically";
        return { part: profileId, level: "warn", text: `${profileId} is cooling down${rest} after: ${why}`, todo };
      }),
      ...logins.flatMap(({ profileId, status, renews, remainingMs }): Finding[] => {
        if (status === "expired" && renews) return [{ part: profileId, level: "info", text: `the login ${profileId} renews on next use` }];
        if (status === "expired") return [{ part: profileId, level: "error", text: `the login ${profileId} has expired`, todo: "openclaw models auth login" }];
        if (status !== "expiring") return [];
        return [
          { part: profileId, level: "warn", text: `the login ${profileId} expires in ${formatDuration(remainingMs ?? 0)}`, todo: "openclaw models auth login" },
        ];
      }),
    ];
  },
};

/** The model that reads mail, when mail is read. */
export const gmailModel: Check = {
  id: "hooks.gmail-model",
  topic: "access",
  title: "Gmail hook model",
  async run({ config, models }) {
    const model = config.current.hooks?.gmail?.model?.trim();
    if (!model || !config.snapshot().valid) return [];
    const problem = (await models()).problemWith(model);
    return problem === undefined ? [] : [{ level: "warn", text: `hooks.gmail.model: ${problem}`, todo: "list known models with: openclaw models list" }];
  },
};

/** Semantic search needs an embedding provider. */
export const memorySearch: Check = {
  id: "memory.search",
  topic: "workspace",
  title: "Memory search",
  async run({ config, models }) {
    const memory = config.current.agents?.defaults?.memorySearch;
    const provider = memory?.provider;
    if (!config.snapshot().valid || memory?.enabled === false || provider === undefined || provider === "local" || memory?.remote?.apiKey !== undefined)
      return [];
    const name = provider === "gemini" ? "google" : provider;
    if ((await models()).hasCredential(name)) return [];
    return [
      {
        level: "warn",
        text: `memorySearch.provider is "${provider}", but it has no key`,
        todo: `openclaw models auth add --provider ${name}, or choose another provider`,
      },
    ];
  },
};

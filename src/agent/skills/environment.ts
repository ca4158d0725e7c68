import { inheritedEnvironment } from "../../base/inherited-environment.ts";
import type { Env, OpenClawConfig } from "../../config/index.ts";
import type { SkillsSnapshot } from "./snapshot.ts";

/**
 * Variables that a session's skills bring: `skills.entries.<key>.env`, and `apiKey` under the skill's primary variable. What commands inherit already
 * is left as it is, a variable that the configuration names has the value that `env` gives it, and of two skills the first counts. A skill's file alone
 * brings nothing: an agent may have written it. They are for the commands of the session's turns and stay out of our own environment.
 */
export function skillEnvironment(snapshot: Pick<SkillsSnapshot, "skills">, config: OpenClawConfig, env: Env): Readonly<Record<string, string>> {
  const variables = new Map<string, string>();
  let inherited: Readonly<Record<string, string>> | undefined;
  const add = (name: string | undefined, value: unknown): void => {
    if (name === undefined || typeof value !== "string" || value === "" || variables.has(name)) return;
    inherited ??= inheritedEnvironment(env, config.tools?.exec?.passEnv);
    if (!inherited[name]) variables.set(name, value);
  };
  for (const { name, skillKey, primaryEnv } of snapshot.skills) {
    const entry = config.skills?.entries?.[skillKey ?? name];
    for (const [variable, value] of Object.entries(entry?.env ?? {})) add(variable, env[variable] || value);
    add(primaryEnv, entry?.apiKey);
  }
  return Object.fromEntries(variables);
}

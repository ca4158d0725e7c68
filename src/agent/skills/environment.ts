import type { Env, OpenClawConfig } from "../../config/index.ts";
import type { SkillsSnapshot } from "./snapshot.ts";

/**
 * Variables that a session's skills bring: `skills.entries.<key>.env`, and `apiKey` under the skill's primary variable. What `env` has already
 * is left as it is, and of two skills the first counts. They are for the commands of the session's turns and stay out of our own environment.
 */
export function skillEnvironment(snapshot: Pick<SkillsSnapshot, "skills">, config: OpenClawConfig, env: Env): Readonly<Record<string, string>> {
  const variables = new Map<string, string>();
  const add = (name: string | undefined, value: unknown): void => {
    if (name !== undefined && typeof value === "string" && value !== "" && !env[name] && !variables.has(name)) variables.set(name, value);
  };
  for (const { name, skillKey, primaryEnv } of snapshot.skills) {
    const entry = config.skills?.entries?.[skillKey ?? name];
    for (const [variable, value] of Object.entries(entry?.env ?? {})) add(variable, value);
    add(primaryEnv, entry?.apiKey);
  }
  return Object.fromEntries(variables);
}

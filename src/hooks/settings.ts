import { AppError } from "../base/errors.ts";
import { resolveHookName } from "./catalog.ts";
import { isRecord } from "./view/plain.ts";

/** The operator's settings for a plugin's hooks, and the plugin's own configuration. */
export interface HookSettings {
  /** Handlers find it in `event.context.pluginConfig`. */
  readonly pluginConfig?: Readonly<Record<string, unknown>>;
  /** Milliseconds for every hook. */
  readonly timeoutMs?: number;
  /** Milliseconds by hook; wins over `timeoutMs`. */
  readonly timeouts?: Readonly<Record<string, number>>;
  /** A `before_tool_call` handler over its budget blocks the call. */
  readonly failClosed?: boolean;
  /** `false` drops what its hooks would add to prompts. */
  readonly allowPromptInjection?: boolean;
  readonly allowConversationAccess?: boolean;
  /** Bundled with the product. */
  readonly bundled?: boolean;
}

/** Bounds of a budget in milliseconds. */
export const BUDGET_LIMITS = { min: 1, max: 600_000 } as const;

/** Whether a value is a valid budget. */
export function isBudget(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= BUDGET_LIMITS.min && value <= BUDGET_LIMITS.max;
}

const FLAGS = ["failClosed", "allowPromptInjection", "allowConversationAccess"] as const;

/**
 * Parses `plugins.entries.<id>`. Throws `CONFIG_INVALID` with every invalid path; `at` is the entry's path in the configuration.
 * Unknown keys are ignored.
 */
export function resolveHookSettings(entry: unknown, at = "plugins.entries.<id>"): HookSettings {
  const issues: { path: string; message: string }[] = [];
  const wrong = (path: string, expected: string, value: unknown): undefined => {
    issues.push({ path, message: `expected ${expected}, found ${JSON.stringify(value) ?? typeof value}` });
  };
  const record = (value: unknown, path: string): Record<string, unknown> => {
    if (value !== undefined && !isRecord(value)) wrong(path, "an object", value);
    return isRecord(value) ? value : {};
  };
  const budget = (value: unknown, path: string): number | undefined =>
    isBudget(value) ? value : wrong(path, `a whole number of milliseconds from ${BUDGET_LIMITS.min} to ${BUDGET_LIMITS.max}`, value);

  const { config, hooks } = record(entry, at);
  const given = record(hooks, `${at}.hooks`);
  const settings: { -readonly [K in keyof HookSettings]: HookSettings[K] } = {};
  if (config !== undefined) settings.pluginConfig = record(config, `${at}.config`);
  if (given["timeoutMs"] !== undefined) settings.timeoutMs = budget(given["timeoutMs"], `${at}.hooks.timeoutMs`) ?? BUDGET_LIMITS.max;
  if (given["timeouts"] !== undefined) {
    const timeouts: Record<string, number> = {};
    for (const [name, value] of Object.entries(record(given["timeouts"], `${at}.hooks.timeouts`))) {
      const ms = budget(value, `${at}.hooks.timeouts.${name}`);
      if (ms !== undefined) timeouts[resolveHookName(name) ?? name] = ms;
    }
    settings.timeouts = timeouts;
  }
  for (const flag of FLAGS) {
    const value = given[flag];
    if (typeof value === "boolean") settings[flag] = value;
    else if (value !== undefined) wrong(`${at}.hooks.${flag}`, "true or false", value);
  }
  if (issues.length > 0) {
    const text = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new AppError("CONFIG_INVALID", `${text}; correct it in the configuration`, { details: { issues } });
  }
  return settings;
}

import { isTruthy, type Env } from "./env.ts";
import { valueAt } from "./value.ts";

/** Runs a program and gives what it wrote, or rejects. `app` fills this with the one spawn function. */
export type RunShell = (command: string, args: readonly string[], options: { readonly timeoutMs: number }) => Promise<string>;

const API_KEYS = ["OPENAI", "ANTHROPIC", "GEMINI", "ZAI", "OPENROUTER", "AI_GATEWAY", "MINIMAX", "SYNTHETIC", "ELEVENLABS"];

/** The only variables that are taken from the login shell. */
export const SHELL_VARIABLES: readonly string[] = [
  ...API_KEYS.map((name) => `${name}_API_KEY`),
  "ANTHROPIC_OAUTH_TOKEN",
  "TELEGRAM_BOT_TOKEN",
  "DISCORD_BOT_TOKEN",
  "SLACK_BOT_TOKEN",
  "SLACK_APP_TOKEN",
  "OPENCLAW_GATEWAY_TOKEN",
  "OPENCLAW_GATEWAY_PASSWORD",
];

const DEFAULT_TIMEOUT_MS = 15_000;

/** How long the login shell may take, or undefined when it is not to be asked: not enabled, deferred, or one of its variables is set. */
export function shellImportTimeout(config: unknown, env: Env): number | undefined {
  const enabled = valueAt(config, ["env", "shellEnv", "enabled"]) === true || isTruthy(env["OPENCLAW_LOAD_SHELL_ENV"]);
  if (!enabled || isTruthy(env["OPENCLAW_DEFER_SHELL_ENV_FALLBACK"])) return undefined;
  if (SHELL_VARIABLES.some((name) => env[name]?.trim())) return undefined;
  const configured = valueAt(config, ["env", "shellEnv", "timeoutMs"]);
  if (typeof configured === "number" && configured >= 0) return configured;
  const fromEnv = Number(env["OPENCLAW_SHELL_ENV_TIMEOUT_MS"]?.trim() || Number.NaN);
  return Number.isFinite(fromEnv) && fromEnv >= 0 ? fromEnv : DEFAULT_TIMEOUT_MS;
}

/** Asks the login shell for the variables that are missing. */
export async function importShellVariables(env: Env, timeoutMs: number, run: RunShell): Promise<Record<string, string>> {
  const shell = env["SHELL"]?.trim();
  const output = await run(shell?.startsWith("/") ? shell : "/bin/sh", ["-l", "-c", "env -0"], { timeoutMs });
  const found: Record<string, string> = {};
  for (const entry of output.split("\0")) {
    const equals = entry.indexOf("=");
    const name = entry.slice(0, Math.max(equals, 0));
    const value = entry.slice(equals + 1);
    if (SHELL_VARIABLES.includes(name) && value.trim() && !env[name]?.trim()) found[name] = value;
  }
  return found;
}

/** How far results of plugins go: which variables they may set for commands, and how many more passes of a model they may request. */
import type { BeforeAgentFinalizeResult } from "./events/index.ts";

/** Environment variables that plugins add to a command. */
export interface ExecEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Names that were dropped; their values are never reported. */
  readonly dropped: readonly string[];
}

/** `__proto__` would set an object's prototype instead of a key. */
const VALID_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that load code into a program, or select the program. */
const LOADERS = /^(?:PATH|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PERL5OPT|RUBYOPT|PYTHONSTARTUP|JAVA_TOOL_OPTIONS)$/i;
/** Variables that redirect traffic. */
const PROXIES = /^(?:.*_PROXY|PROXY)$/i;
/** Variables that change which certificates a program trusts. */
const TLS =
  /^(?:NODE_TLS_REJECT_UNAUTHORIZED|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_FILE|SSL_CERT_DIR|SSLKEYLOGFILE|OPENSSL_.*|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|AWS_CA_BUNDLE|PIP_CERT|NPM_CONFIG_(?:CAFILE|CA|STRICT_SSL)|GIT_SSL_.*|CARGO_HTTP_CAINFO|PYTHONHTTPSVERIFY)$/i;

/** Whether a plugin may set this variable for a command. */
export function isExecVariable(name: string): boolean {
  return VALID_NAME.test(name) && !LOADERS.test(name) && !PROXIES.test(name) && !TLS.test(name);
}

/** The allowed part of what a plugin wants to set. Values that are not text, or contain a NUL, are dropped. */
export function filterExecEnvironment(wanted: Readonly<Record<string, unknown>>): ExecEnvironment {
  const env: Record<string, string> = {};
  const dropped: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    if (isExecVariable(name) && typeof value === "string" && !value.includes("\0")) env[name] = value;
    else dropped.push(name);
  }
  return { env, dropped };
}

/** Most passes for one request, whatever it asks for. */
const HOST_CAP = 3;
/** Most passes of a run for all requests together, so that it ends even when every request has a new key. */
const RUN_CAP = 9;

/** Whether a model gets another pass. */
export type RetryDecision =
  | { readonly retry: true; readonly attempt: number; /** For the model: the reason and what to do. */ readonly instruction: string }
  | { readonly retry: false; readonly why: "finalize" | "attempts" | "run" };

/** Counts the passes that plugins request in one run. */
export interface FinalizeRetries {
  /** Processes a plugin's decision of `before_agent_finalize`. */
  take(pluginId: string, decision: BeforeAgentFinalizeResult): RetryDecision;
}

export function createFinalizeRetries(): FinalizeRetries {
  const attempts = new Map<string, number>();
  let total = 0;
  return {
    take(pluginId, decision) {
      if (decision.action === "finalize") return { retry: false, why: "finalize" };
      const { retry } = decision;
      const key = JSON.stringify([pluginId, retry?.idempotencyKey ?? ""]);
      const used = attempts.get(key) ?? 0;
      const { maxAttempts = HOST_CAP } = retry ?? {};
      const own = Number.isInteger(maxAttempts) ? Math.max(0, maxAttempts) : HOST_CAP;
      if (used >= Math.min(own, HOST_CAP)) return { retry: false, why: "attempts" };
      if (total >= RUN_CAP) return { retry: false, why: "run" };
      attempts.set(key, used + 1);
      total += 1;
      const instruction = [decision.reason, retry?.instruction].filter((text) => typeof text === "string" && text !== "").join("\n\n");
      return { retry: true, attempt: used + 1, instruction };
    },
  };
}

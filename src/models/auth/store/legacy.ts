import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileError, systemCode } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import { isObject } from "../../../config/index.ts";
import { credentialOf, EMPTY_DOCUMENT, type AuthDocument } from "./document.ts";

export interface LegacySources {
  readonly agentDir: string;
  /** `credentials/oauth.json`; read for the main agent only. */
  readonly oauthFile?: string | undefined;
  readonly log: Logger;
}

function readObject(path: string, log: Logger): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return {};
    throw fileError(path, "could not read old credentials", error);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below; the parser's words would quote secrets.
  }
  log.warn(`${path} holds old credentials but is not a JSON object; it is left as it is and nothing is taken from it`, { path });
  return {};
}

/** An entry of the old files: the provider was its key, and an OAuth login had no type. */
function entryOf(provider: string, value: unknown): unknown {
  if (!isObject(value)) return undefined;
  const type = value["type"] ?? (value["access"] !== undefined ? "oauth" : value["key"] !== undefined ? "api_key" : "token");
  const entry = { ...value, type, provider: typeof value["provider"] === "string" ? value["provider"] : provider };
  return credentialOf(entry) ? entry : undefined;
}

/** What a new `auth-profiles.json` begins with: the logins of `auth.json` and `oauth.json`. The old files stay where they are. */
export function importLegacy({ agentDir, oauthFile, log }: LegacySources): AuthDocument {
  const profiles: Record<string, unknown> = {};
  for (const path of [join(agentDir, "auth.json"), ...(oauthFile === undefined ? [] : [oauthFile])]) {
    const found = Object.entries(readObject(path, log));
    for (const [provider, value] of found) {
      const entry = entryOf(provider, value);
      if (entry !== undefined) profiles[`${provider}:default`] ??= entry;
      else log.warn(`an entry of ${path} is no credential that is known here; it is not taken over`, { path, provider });
    }
  }
  return Object.keys(profiles).length > 0 ? { ...EMPTY_DOCUMENT, profiles } : EMPTY_DOCUMENT;
}

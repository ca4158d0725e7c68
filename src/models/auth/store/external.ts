import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OAuthCredential } from "../../../protocol/index.ts";
import { isObject } from "../../../config/index.ts";
import { credentialOf, type AuthDocument } from "./document.ts";

/** Logins that another program made and keeps fresh, with the user's consent for its own provider. */
const SOURCES = [
  { provider: "qwen-portal", id: "qwen-portal:qwen-cli", file: [".qwen", "oauth_creds.json"] },
  { provider: "minimax-portal", id: "minimax-portal:minimax-cli", file: [".minimax", "oauth_creds.json"] },
] as const;

const REREAD_MS = 15 * 60_000;
/** Ours is looked after when it has less than this left. */
const NEAR_END_MS = 10 * 60_000;

function readLogin(path: string, provider: string): OAuthCredential | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isObject(value)) return undefined;
    const { access_token: access, refresh_token: refresh, expiry_date: expires } = value;
    if (typeof access !== "string" || typeof refresh !== "string" || typeof expires !== "number") return undefined;
    const url = value["resource_url"];
    return { type: "oauth", provider, access, refresh, expires, ...(typeof url === "string" ? { resourceUrl: url } : {}) };
  } catch {
    // Not there, not ours to read, or being written: the next look finds it.
    return undefined;
  }
}

export interface ExternalLogins {
  /** Profiles that are newer elsewhere than in `document`. */
  newer(document: AuthDocument): Readonly<Record<string, OAuthCredential>>;
}

/** Watches the files of other programs: every quarter of an hour, and whenever our copy is about to run out. */
export function createExternalLogins(home: string, now: () => number): ExternalLogins {
  const readAt = new Map<string, number>();
  return {
    newer(document) {
      const found: Record<string, OAuthCredential> = {};
      for (const { provider, id, file } of SOURCES) {
        const stored = credentialOf(document.profiles[id]);
        const ours = stored?.type === "oauth" ? stored : undefined;
        const nearEnd = ours !== undefined && (ours.expires ?? 0) <= now() + NEAR_END_MS;
        if (!nearEnd && now() - (readAt.get(id) ?? -REREAD_MS) < REREAD_MS) continue;
        readAt.set(id, now());
        const login = readLogin(join(home, ...file), provider);
        if (!login || (ours && (ours.expires ?? 0) >= login.expires)) continue;
        found[id] = ours ? { ...ours, ...login } : login;
      }
      return found;
    },
  };
}

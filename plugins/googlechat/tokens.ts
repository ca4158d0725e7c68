/** Access tokens of a service account: a signed assertion is exchanged for one, which serves until shortly before it expires. */
import { sign } from "node:crypto";
import { type Fields, fieldsOf, hopeless, type HttpClient, notSent, numberOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { ServiceAccount } from "./account.ts";

const SCOPE = "https://www.googleapis.com/auth/chat.bot";
/** What errors call the question for a token. */
export const SIGN_IN = "sign in";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const LIFETIME_S = 3600;
/** Asked for again this long before it ends. */
const MARGIN_MS = 300_000;

const encoded = (part: Fields): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** A JWT over these claims, signed with RS256. */
export function signJwt(claims: Fields, { key, keyId }: Pick<ServiceAccount, "key" | "keyId">): string {
  const input = `${encoded({ alg: "RS256", typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) })}.${encoded(claims)}`;
  return `${input}.${sign("RSA-SHA256", Buffer.from(input), key).toString("base64url")}`;
}

export interface AccessTokens {
  /** One that serves for a while; requests at the same time share the question. */
  get(): Promise<string>;
  /** The platform does not accept the present one any more. */
  drop(): void;
}

export interface TokenDeps {
  readonly serviceAccount: ServiceAccount;
  readonly http: HttpClient;
  /** Path of the token endpoint. */
  readonly path: string;
  /** Whom the assertion is made out to. */
  readonly audience: string;
  readonly now: () => number;
}

export function createAccessTokens({ serviceAccount, http, path, audience, now }: TokenDeps): AccessTokens {
  let known: { readonly token: string; readonly until: number } | undefined;
  let asking: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const iat = Math.floor(now() / 1000);
    const assertion = signJwt({ iss: serviceAccount.email, scope: SCOPE, aud: audience, iat, exp: iat + LIFETIME_S }, serviceAccount);
    const { json } = await http.request({ method: "POST", path, form: { grant_type: GRANT, assertion }, action: SIGN_IN, timeoutMs: 15_000 });
    const fields = fieldsOf(json) ?? {};
    const token = textOf(fields["access_token"]);
    if (token === undefined) throw notSent(SIGN_IN, "Google returned no access token for the service account");
    if (/[^\x21-\x7E]/.test(token)) throw hopeless("Google returned an unusable access token");
    const lifetimeMs = (numberOf(fields["expires_in"]) ?? LIFETIME_S) * 1000;
    known = { token, until: now() + lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 2) };
    return token;
  }

  return {
    get() {
      if (known && known.until > now()) return Promise.resolve(known.token);
      return (asking ??= ask().finally(() => (asking = undefined)));
    },
    drop() {
      known = undefined;
    },
  };
}

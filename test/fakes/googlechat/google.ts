/** Google's part that is not Chat: the token endpoint, and the keys that requests to webhooks are signed with. */
import { generateKeyPairSync, verify } from "node:crypto";
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";
import { certificateOf, jwtOf, signingKey, type SigningKey, webKeyOf } from "./keys.ts";
import { newId } from "./objects.ts";

export const CHAT = "chat@system.gserviceaccount.com";
const SCOPE = "https://www.googleapis.com/auth/chat.bot";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const HOUR_S = 3600;
/** Whom official clients make their assertions out to, wherever they send them. */
const TOKEN_URL = "https://oauth2.googleapis.com/token";

export type AudienceType = "app-url" | "project-number";

export interface TokenFacts {
  /** Claims over the usual ones; undefined takes one out. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: object;
  readonly key?: SigningKey;
}

let serviceKey: { readonly publicKey: string; readonly privateKey: string } | undefined;
const newKey = () =>
  generateKeyPairSync("rsa", { modulusLength: 2048, publicKeyEncoding: { type: "spki", format: "pem" }, privateKeyEncoding: { type: "pkcs8", format: "pem" } });

export type FakeGoogle = ReturnType<typeof createGoogle>;

export function createGoogle(now: () => number, url: () => string) {
  const email = "claw@project.iam.gserviceaccount.com";
  const { publicKey, privateKey } = (serviceKey ??= newKey());
  const tokens = new Map<string, number>();
  let isDisabled = false;
  /** For ID tokens, and for those of projects. */
  let keys: Record<AudienceType, SigningKey> = { "app-url": signingKey("oidc-1", 0), "project-number": signingKey("chat-1", 1) };
  let audience: { readonly type: AudienceType; readonly value: string } = { type: "project-number", value: "123456789012" };
  const seconds = (): number => Math.floor(now() / 1000);
  const refusal = (error: string, description: string): Answer => ({ status: 400, body: { error, error_description: description } });

  function grant({ fields }: Asked): Answer {
    const parts = String(fields["assertion"]).split(".");
    if (fields["grant_type"] !== GRANT || parts.length !== 3) return refusal("unsupported_grant_type", "Invalid grant_type.");
    const claims = JSON.parse(Buffer.from(parts[1]!, "base64url").toString("utf8")) as Record<string, unknown>;
    if (isDisabled || claims["iss"] !== email) return refusal("invalid_grant", "Invalid grant: account not found");
    if (!verify("RSA-SHA256", Buffer.from(`${parts[0]}.${parts[1]}`), publicKey, Buffer.from(parts[2]!, "base64url")))
      return refusal("invalid_grant", "Invalid JWT Signature.");
    const [iat, exp] = [Number(claims["iat"]), Number(claims["exp"])];
    const isForUs = [`${url()}/token`, TOKEN_URL].includes(String(claims["aud"]));
    if (!isForUs || !(exp > seconds()) || iat > seconds() + 60 || exp - iat > HOUR_S)
      return refusal("invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.");
    if (claims["scope"] !== SCOPE) return refusal("invalid_scope", "Invalid OAuth scope.");
    const token = `ya29.${newId("T")}${newId("U")}`;
    tokens.set(token, now() + HOUR_S * 1000);
    return { body: { access_token: token, expires_in: HOUR_S - 1, token_type: "Bearer" } };
  }

  const wrongKey = (): string => JSON.stringify({ ...account(), private_key: newKey().privateKey });
  const account = () => ({
    type: "service_account",
    project_id: "project",
    private_key_id: "k1",
    private_key: privateKey,
    client_email: email,
    client_id: "100000000000000000001",
    token_uri: TOKEN_URL,
    universe_domain: "googleapis.com",
  });

  return {
    email,
    serviceAccount: JSON.stringify(account()),
    privateKey,
    /** Like ours, with a key that is not accepted. */
    wrongKey,
    tokens,
    disable: (): void => void (isDisabled = true),
    enable: (): void => void (isDisabled = false),
    /** Access tokens end early. */
    revokeTokens: (): void => tokens.clear(),
    setAudience: (type: AudienceType, value: string): void => void (audience = { type, value }),
    get audience() {
      return audience;
    },
    get keys() {
      return keys;
    },
    /** Other keys sign from now on, and these are no longer published. */
    rotate(): void {
      keys = { "app-url": signingKey(newId("oidc"), 2), "project-number": signingKey(newId("chat"), 2) };
    },
    /** The token that a request to the webhook carries. */
    tokenFor({ claims = {}, header, key }: TokenFacts = {}): string {
      const isUrl = audience.type === "app-url";
      const usual = isUrl ? { iss: "https://accounts.google.com", email: CHAT, email_verified: true, sub: "1", azp: "1" } : { iss: CHAT };
      return jwtOf({ aud: audience.value, iat: seconds(), exp: seconds() + HOUR_S, ...usual, ...claims }, key ?? keys[audience.type], header);
    },
    isValid({ headers }: Asked): boolean {
      const [, token = ""] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
      return (tokens.get(token) ?? 0) > now();
    },
    /** Undefined: not one of its paths. */
    answer(asked: Asked): Answer | undefined {
      if (asked.method === "POST" && asked.path === "/token") return grant(asked);
      if (asked.method !== "GET") return undefined;
      const cached = { headers: { "cache-control": "public, max-age=19800" } };
      if (asked.path === "/oauth2/v3/certs") return { body: { keys: [webKeyOf(keys["app-url"])] }, ...cached };
      const path = decodeURIComponent(asked.path);
      // ID tokens are verified with web keys or certificates of the same keys.
      const isForIds = path === "/oauth2/v1/certs";
      if (!isForIds && path !== `/service_accounts/v1/metadata/x509/${CHAT}`) return undefined;
      const { id, key } = keys[isForIds ? "app-url" : "project-number"];
      const name = isForIds ? "federated-signon.system.gserviceaccount.com" : CHAT;
      const pem = certificateOf(key, name, { from: now() - 86_400_000, until: now() + 86_400_000 });
      return { body: { [id]: pem }, ...cached };
    },
  };
}

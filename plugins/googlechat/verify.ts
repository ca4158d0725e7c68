/** Whether a request comes from Google Chat and is for this account. */
import { createHash, verify } from "node:crypto";
import { type Fields, fieldsOf, jsonOf, numberOf, textOf, type Verified, type WebhookRequest } from "openclaw/plugin-sdk/channel-kit";
import type { GoogleChatAccount } from "./account.ts";
import type { KeySource } from "./keys.ts";

const CHAT = "chat@system.gserviceaccount.com";
const GOOGLE: ReadonlySet<string> = new Set(["accounts.google.com", "https://accounts.google.com"]);
/** Apps that are Workspace add-ons are called by the service account of their project. */
const ADD_ON = /^service-\d{1,20}@gcp-sa-gsuiteaddons\.iam\.gserviceaccount\.com$/;
/** Clocks may differ by this much. */
const SKEW_S = 300;
const MAX_LIFETIME_S = 86_400;
const MAX_TOKEN = 8192;
const PART = /^[\w-]+$/;

interface Jwt {
  readonly header: Fields;
  readonly claims: Fields;
  readonly input: string;
  readonly signature: Buffer;
}

/** Only the one way to write it counts: the same signature in other letters is another text. */
function decoded(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, "base64url");
  return PART.test(part) && bytes.toString("base64url") === part ? bytes : undefined;
}

export function readJwt(token: string): Jwt | undefined {
  const parts = token.length > MAX_TOKEN ? [] : token.split(".");
  if (parts.length !== 3) return undefined;
  const [header, claims, signature] = parts.map(decoded);
  const [head, said] = [fieldsOf(jsonOf(header?.toString("utf8") ?? "")), fieldsOf(jsonOf(claims?.toString("utf8") ?? ""))];
  return head && said && signature ? { header: head, claims: said, input: `${parts[0]}.${parts[1]}`, signature } : undefined;
}

/** From the header; requests to add-ons may have it in their body only. */
function tokenIn({ headers, body }: WebhookRequest, { audienceType }: GoogleChatAccount): string | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) return /^bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  if (audienceType !== "app-url") return undefined;
  return textOf(fieldsOf(fieldsOf(jsonOf(body.toString("utf8")))?.["authorizationEventObject"])?.["systemIdToken"]);
}

/** What is wrong with the claims. Undefined: nothing. */
function wrongClaims(claims: Fields, { audienceType, audience }: GoogleChatAccount, nowS: number): string | undefined {
  const { aud, iss } = claims;
  if (audience === "" || aud !== audience) return "its token is for another audience; compare channels.googlechat.audience with the Chat app configuration";
  const [iat, exp, nbf] = [numberOf(claims["iat"]), numberOf(claims["exp"]), numberOf(claims["nbf"])];
  if (iat === undefined || exp === undefined) return "its token has no timestamps";
  if (exp + SKEW_S <= nowS) return "its token has expired";
  if (iat - SKEW_S > nowS || (nbf ?? iat) - SKEW_S > nowS) return "its token is from the future; check the clock of this machine";
  if (exp - nowS > MAX_LIFETIME_S) return "its token is valid for too long";
  if (audienceType === "project-number") return iss === CHAT ? undefined : "its token has another issuer";
  if (typeof iss !== "string" || !GOOGLE.has(iss)) return "its token has another issuer";
  const { email } = claims;
  const isChat = email === CHAT || (typeof email === "string" && ADD_ON.test(email));
  return isChat && claims["email_verified"] === true ? undefined : "its token is not from Google Chat";
}

export interface VerifyDeps {
  readonly account: GoogleChatAccount;
  /** For the account's kind of audience. */
  readonly keys: KeySource;
  readonly now: () => number;
}

const refused = (why: string): Verified => ({ ok: false, why });

/**
 * RS256 only, with a key that the platform publishes. Keys are asked for last, so that nothing a stranger makes up causes a request.
 * Google may use a token for several requests: a request is named by its token and its body.
 */
export async function verifyRequest(request: WebhookRequest, { account, keys, now }: VerifyDeps): Promise<Verified> {
  const token = tokenIn(request, account);
  if (token === undefined) return refused("it has no bearer token");
  const jwt = readJwt(token);
  if (!jwt) return refused("its token is not a JWT");
  const id = textOf(jwt.header["kid"]);
  if (jwt.header["alg"] !== "RS256" || id === undefined || jwt.header["crit"] !== undefined) return refused("its token is not signed with RS256");
  const wrong = wrongClaims(jwt.claims, account, Math.floor(now() / 1000));
  if (wrong !== undefined) return refused(wrong);
  const key = await keys.get(id);
  if (!key) return refused("its token is signed with an unknown key");
  if (!verify("RSA-SHA256", Buffer.from(jwt.input), key, jwt.signature)) return refused("its signature is not valid");
  return { ok: true, signature: Buffer.concat([jwt.signature, createHash("sha256").update(request.body).digest()]) };
}

import type { OAuthCredential } from "../../../protocol/index.ts";
import { isObject } from "../../../config/index.ts";
import type { OAuthClient } from "./client.ts";
import type { OAuthDeps, TokenAnswer } from "./token-request.ts";

const TIMEOUT_MS = 10_000;
const EMAIL = /^[^\s@:]+@[^\s@:]+$/;

/** The claims of a token, unverified: they name an account but grant nothing. */
function claimsOf(token: unknown): Readonly<Record<string, unknown>> {
  const part = typeof token === "string" ? token.split(".")[1] : undefined;
  if (part === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isObject(claims) ? claims : {};
  } catch {
    return {};
  }
}

const OPENAI_CLAIM = "https://api.openai.com/auth";

/** The account that an OpenAI token names; requests must name it, too. */
export function accountIdOf(access: string): string | undefined {
  const claim = claimsOf(access)[OPENAI_CLAIM];
  const id = isObject(claim) ? claim["chatgpt_account_id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

/** The login's e-mail address, from the id token or the server; undefined when unknown. Never throws. */
export async function emailOf(login: OAuthCredential, fields: TokenAnswer["fields"], client: OAuthClient, deps: OAuthDeps): Promise<string | undefined> {
  const claimed = claimsOf(fields["id_token"])["email"];
  if (typeof claimed === "string" && EMAIL.test(claimed)) return claimed;
  if (client.userInfoUrl === undefined) return undefined;
  try {
    const response = await (deps.fetch ?? fetch)(client.userInfoUrl, {
      headers: { authorization: `Bearer ${login.access}`, accept: "application/json", "user-agent": `openclaw/${deps.version}` },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const value: unknown = await response.json();
    const email = isObject(value) ? value["email"] : undefined;
    return response.ok && typeof email === "string" && EMAIL.test(email) ? email : undefined;
  } catch {
    return undefined;
  }
}

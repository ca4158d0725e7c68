import { createHash } from "node:crypto";
import type { OAuthCredential } from "../../../protocol/index.ts";
import type { Clock } from "../../../base/clock.ts";
import { AppError, messageOf, systemCode } from "../../../base/errors.ts";
import type { Random } from "../../../base/random.ts";
import { isRecord } from "../../../base/records.ts";
import type { Redactor } from "../../../base/redaction.ts";
import { clip } from "../../../base/text.ts";
import { failureOf, modelFailed } from "../../failure.ts";
import type { OAuthClient } from "./client.ts";

export interface OAuthDeps {
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "register" | "text">;
  readonly version: string;
  readonly fetch?: typeof fetch | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 256 * 1024;
/** A token is renewed this long before it expires, so that none expires in flight. */
const MARGIN_MS = 5 * 60_000;
/** For servers that do not state a token's lifetime. */
const DEFAULT_LIFETIME_MS = 60 * 60_000;

/** The server's answer: its fields, or its refusal. */
export interface TokenAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const describe = (error: unknown): string => messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new AppError("OVERLOADED", `the response is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Posts to an authorization server. Throws only when it cannot be reached; a refusal is in the answer. */
export async function post(url: string, body: Readonly<Record<string, string>>, format: "form" | "json", deps: OAuthDeps): Promise<TokenAnswer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await (deps.fetch ?? fetch)(url, {
      method: "POST",
      redirect: "error",
      headers: {
        accept: "application/json",
        "content-type": format === "form" ? "application/x-www-form-urlencoded" : "application/json",
        "user-agent": `openclaw/${deps.version}`,
      },
      body: format === "form" ? new URLSearchParams(body).toString() : JSON.stringify(body),
      signal: deps.signal ? AbortSignal.any([deps.signal, timeout]) : timeout,
    });
    return { status: response.status, fields: parseFields(await bounded(response)) };
  } catch (error) {
    if (deps.signal?.aborted) throw new AppError("CANCELLED", "the login was cancelled", { cause: error });
    const cause = error instanceof Error ? error.cause : undefined;
    const code = timeout.aborted ? "ETIMEDOUT" : (systemCode(cause) ?? systemCode(error));
    throw modelFailed({
      phase: "connect",
      text: `the token request to ${new URL(url).host} failed: ${deps.redactor.text(clip(describe(error), 200))}`,
      ...(code === undefined ? {} : { code }),
    });
  }
}

function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // An error page, or a form: a token answer is JSON.
  }
  return {};
}

/** The server's reason for a refusal, bounded and without secrets. */
export function refusalText({ status, fields }: TokenAnswer, redactor: Pick<Redactor, "text">): string {
  const nested = isRecord(fields["error"]) ? fields["error"] : undefined;
  const parts = [fields["error"], fields["error_description"], nested?.["type"], nested?.["message"]].filter((part) => typeof part === "string");
  return redactor.text(clip(`${status}${parts.length > 0 ? ` ${parts.join(": ")}` : ""}`, 300));
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** A login from the fields of a token answer; undefined when it contains none. */
export function loginFrom(
  fields: TokenAnswer["fields"],
  client: OAuthClient,
  before: OAuthCredential | undefined,
  deps: OAuthDeps,
): OAuthCredential | undefined {
  const access = text(fields["access_token"]);
  if (access === undefined) return undefined;
  const refresh = text(fields["refresh_token"]) ?? before?.refresh ?? "";
  for (const secret of [access, refresh, client.clientSecret ?? ""]) deps.redactor.register(secret);
  const seconds = Number(fields["expires_in"]);
  const lifetime = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : DEFAULT_LIFETIME_MS;
  const resourceUrl = text(fields["resource_url"]);
  const accountId = accountIdOf(access);
  return {
    ...before,
    type: "oauth",
    provider: client.provider,
    access,
    refresh,
    expires: deps.clock.now() + Math.max(lifetime - MARGIN_MS, Math.floor(lifetime / 2)),
    clientId: client.clientId,
    tokenUrl: client.tokenUrl,
    ...(client.clientSecret === undefined ? {} : { clientSecret: client.clientSecret }),
    ...(resourceUrl === undefined ? {} : { resourceUrl }),
    ...(accountId === undefined ? {} : { accountId }),
  };
}

const USER_INFO_TIMEOUT_MS = 10_000;
const EMAIL = /^[^\s@:]+@[^\s@:]+$/;

/** The claims of a token, unverified: they name an account but grant nothing. */
function claimsOf(token: unknown): Readonly<Record<string, unknown>> {
  const part = typeof token === "string" ? token.split(".")[1] : undefined;
  if (part === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isRecord(claims) ? claims : {};
  } catch {
    return {};
  }
}

const OPENAI_CLAIM = "https://api.openai.com/auth";

/** The account that an OpenAI token names; requests must name it, too. */
export function accountIdOf(access: string): string | undefined {
  const claim = claimsOf(access)[OPENAI_CLAIM];
  const id = isRecord(claim) ? claim["chatgpt_account_id"] : undefined;
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
      signal: AbortSignal.timeout(USER_INFO_TIMEOUT_MS),
    });
    const value: unknown = await response.json();
    const email = isRecord(value) ? value["email"] : undefined;
    return response.ok && typeof email === "string" && EMAIL.test(email) ? email : undefined;
  } catch {
    return undefined;
  }
}

/** Proof that a code is redeemed by the client that requested it (RFC 7636, S256). */
export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function createPkce(random: Pick<Random, "bytes">): Pkce {
  const verifier = random.bytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Failed attempts in a row to reach the server. */
const UNREACHED = 5;

export interface Polling {
  readonly url: string;
  readonly body: Readonly<Record<string, string>>;
  readonly expiresAt: number;
  /** Message when the code was not used in time. */
  readonly expired: string;
  readonly deps: OAuthDeps & { readonly pause: (ms: number) => Promise<void> };
}

/** Polls a server until the user has confirmed a code; short outages are retried. */
export function createNextAnswer({ url, body, expiresAt, expired, deps }: Polling): (pauseMs: number) => Promise<TokenAnswer> {
  return async (pauseMs) => {
    for (let unreached = 0; ;) {
      if (deps.signal?.aborted) throw new AppError("CANCELLED", "the login was cancelled");
      if (deps.clock.now() >= expiresAt) throw new AppError("TIMEOUT", expired);
      await deps.pause(pauseMs);
      try {
        return await post(url, body, "form", deps);
      } catch (error) {
        unreached += 1;
        if (!failureOf(error) || unreached > UNREACHED) throw error;
      }
    }
  };
}

import type { OAuthCredential } from "../../../protocol/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { OAuthClient } from "./client.ts";
import type { DeviceLoginDeps } from "./device-login.ts";
import { createNextAnswer, createPkce, loginFrom, post, refusalText, type TokenAnswer } from "./token-request.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:user_code";
const DEFAULT_PAUSE_MS = 2000;
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;
const LIFETIME_MS = 15 * 60_000;

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** An expiry time; values too small for a timestamp are seconds from now. */
function endOf(value: unknown, now: number): number | undefined {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) return undefined;
  if (number > 1e11) return number;
  return number > 1e9 ? number * 1000 : now + number * 1000;
}

interface Begun {
  readonly code: string;
  readonly verifier: string;
  readonly expiresAt: number;
  readonly pauseMs: number;
}

async function begin(client: OAuthClient, deps: DeviceLoginDeps): Promise<Begun> {
  if (client.deviceUrl === undefined) throw new AppError("INVALID_INPUT", `expected the user code URL of ${client.provider} (--device-url)`);
  const { verifier, challenge } = createPkce(deps.random);
  const state = deps.random.bytes(16).toString("base64url");
  for (const secret of [verifier, state]) deps.redactor.register(secret);
  const body = {
    response_type: "code",
    client_id: client.clientId,
    scope: client.scopes.join(" "),
    code_challenge: challenge,
    code_challenge_method: "S256",
    state,
  };
  const answer = await post(client.deviceUrl, body, "form", deps);
  const { fields } = answer;
  const [code, url] = [textOf(fields["user_code"]), textOf(fields["verification_uri"])];
  if (answer.status >= 400 || code === undefined || url === undefined || !/^https?:\/\//.test(url)) {
    throw new AppError("PERMISSION_DENIED", `${client.provider} returned no user code: ${refusalText(answer, deps.redactor)}`);
  }
  if (fields["state"] !== state) throw new AppError("PERMISSION_DENIED", `${client.provider} answered for another login; start again`);
  const expiresAt = endOf(fields["expired_in"], deps.clock.now()) ?? deps.clock.now() + LIFETIME_MS;
  await deps.show({ url, code, expiresAt });
  const asked = Number(fields["interval"]);
  return { code, verifier, expiresAt, pauseMs: Math.max(Number.isFinite(asked) && asked > 0 ? asked : DEFAULT_PAUSE_MS, SHORTEST_PAUSE_MS) };
}

/** The login in an answer; its expiry is a timestamp here, where others send a duration. */
function loginIn({ status, fields }: TokenAnswer, client: OAuthClient, deps: DeviceLoginDeps): OAuthCredential | undefined {
  if (status >= 400 || (fields["status"] !== undefined && fields["status"] !== "success")) return undefined;
  const login = loginFrom(fields, client, undefined, deps);
  const end = endOf(fields["expired_in"], deps.clock.now());
  return login && end !== undefined ? { ...login, expires: end } : login;
}

/** Logs in with a code that the user types at the provider, as MiniMax does it. */
export async function userCodeLogin(client: OAuthClient, deps: DeviceLoginDeps): Promise<OAuthCredential> {
  const { code, verifier, expiresAt, ...begun } = await begin(client, deps);
  let { pauseMs } = begun;
  const body = { grant_type: GRANT, client_id: client.clientId, user_code: code, code_verifier: verifier };
  const nextAnswer = createNextAnswer({ url: client.tokenUrl, body, expiresAt, expired: "the code expired before it was used; start again", deps });
  for (;;) {
    const answer = await nextAnswer(pauseMs);
    const login = loginIn(answer, client, deps);
    if (login) return login;
    if (answer.fields["status"] !== "pending") {
      throw new AppError("PERMISSION_DENIED", `${client.provider} refused the login: ${refusalText(answer, deps.redactor)}`);
    }
    pauseMs = Math.min(Math.round(pauseMs * 1.5), LONGEST_PAUSE_MS);
  }
}

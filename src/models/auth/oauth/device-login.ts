import type { OAuthCredential } from "../../../protocol/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Random } from "../../../base/random.ts";
import type { OAuthClient } from "./client.ts";
import { userCodeLogin } from "./user-code-login.ts";
import { createNextAnswer, createPkce, loginFrom, post, refusalText, type OAuthDeps, type TokenAnswer } from "./token-request.ts";

export interface DeviceLoginDeps extends OAuthDeps {
  readonly random: Pick<Random, "bytes">;
  /** Shows the user where to go and what to type there. */
  readonly show: (prompt: { readonly url: string; readonly code: string; readonly expiresAt: number }) => Promise<void> | void;
  /** Waits; tests wait less. */
  readonly pause: (ms: number) => Promise<void>;
}

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const LIFETIME_S = 900;
const INTERVAL_S = 5;
const SHORTEST_PAUSE_MS = 1000;
const SLOW_DOWN_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;

const seconds = (value: unknown, otherwise: number): number => (Number.isFinite(Number(value)) && Number(value) > 0 ? Number(value) : otherwise);

const firstText = (fields: TokenAnswer["fields"], ...names: readonly string[]): string =>
  names.map((name) => fields[name]).find((value): value is string => typeof value === "string") ?? "";

async function begin(client: OAuthClient, challenge: string, deps: DeviceLoginDeps): Promise<TokenAnswer["fields"]> {
  if (client.deviceUrl === undefined) throw new AppError("INVALID_INPUT", `expected the device code URL of ${client.provider} (--device-url)`);
  const body = {
    client_id: client.clientId,
    ...(client.scopes.length > 0 ? { scope: client.scopes.join(" ") } : {}),
    ...(client.devicePkce ? { code_challenge: challenge, code_challenge_method: "S256" } : {}),
  };
  const answer = await post(client.deviceUrl, body, "form", deps);
  if (answer.status >= 400 || typeof answer.fields["device_code"] !== "string") {
    throw new AppError("PERMISSION_DENIED", `${client.provider} returned no device code: ${refusalText(answer, deps.redactor)}`);
  }
  return answer.fields;
}

/** Logs in on another device: the user types a short code there while this polls as slowly as the server wants. */
export async function deviceLogin(client: OAuthClient, deps: DeviceLoginDeps): Promise<OAuthCredential> {
  if (client.deviceDialect === "user_code") return userCodeLogin(client, deps);
  const { verifier, challenge } = createPkce(deps.random);
  const fields = await begin(client, challenge, deps);
  const deviceCode = String(fields["device_code"]);
  for (const secret of [deviceCode, verifier]) deps.redactor.register(secret);
  const expiresAt = deps.clock.now() + seconds(fields["expires_in"], LIFETIME_S) * 1000;
  const url = firstText(fields, "verification_uri_complete", "verification_uri", "verification_url");
  if (!/^https?:\/\//.test(url)) throw new AppError("UNAVAILABLE", `${client.provider} did not return the URL at which to enter the code`);
  await deps.show({ url, code: firstText(fields, "user_code"), expiresAt });
  let pauseMs = Math.max(seconds(fields["interval"], INTERVAL_S) * 1000, SHORTEST_PAUSE_MS);
  const body = {
    grant_type: DEVICE_GRANT,
    device_code: deviceCode,
    client_id: client.clientId,
    ...(client.devicePkce ? { code_verifier: verifier } : {}),
    ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }),
  };
  const nextAnswer = createNextAnswer({
    url: client.tokenUrl,
    body,
    expiresAt,
    expired: "the device code has expired before anybody used it; start again",
    deps,
  });
  for (;;) {
    const answer = await nextAnswer(pauseMs);
    const login = answer.status < 400 ? loginFrom(answer.fields, client, undefined, deps) : undefined;
    if (login) return login;
    const error = answer.fields["error"];
    if (error === "slow_down") pauseMs = Math.min(pauseMs + SLOW_DOWN_MS, LONGEST_PAUSE_MS);
    else if (error !== "authorization_pending") {
      throw new AppError("PERMISSION_DENIED", `${client.provider} refused the login: ${refusalText(answer, deps.redactor)}`);
    }
  }
}

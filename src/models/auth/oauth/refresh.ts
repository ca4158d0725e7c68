import type { OAuthCredential } from "../../../protocol/index.ts";
import type { Env } from "../../../config/index.ts";
import { modelFailed } from "../../failure.ts";
import { oauthClient } from "./client.ts";
import { loginFrom, post, refusalText, type OAuthDeps } from "./token-request.ts";

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Renews a login with its refresh token, as the client that made it. Rejects with `MODEL_FAILED` when the server refuses. */
export async function refreshLogin(credential: OAuthCredential, env: Env, deps: OAuthDeps): Promise<OAuthCredential> {
  const { provider } = credential;
  const again = `log in again with: openclaw models auth login --provider ${provider}`;
  if (!text(credential.refresh)) throw modelFailed({ phase: "connect", status: 401, text: `the login of ${provider} has no refresh token; ${again}` });
  const stored = { clientId: text(credential["clientId"]), clientSecret: text(credential["clientSecret"]), tokenUrl: text(credential["tokenUrl"]) };
  const client = oauthClient(provider, stored, env);
  if ("missing" in client) {
    throw modelFailed({
      phase: "connect",
      status: 401,
      text: `the login of ${provider} has expired and cannot be renewed without ${client.missing}; ${again}`,
    });
  }
  const body = {
    grant_type: "refresh_token",
    refresh_token: credential.refresh,
    client_id: client.clientId,
    ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }),
  };
  const answer = await post(client.tokenUrl, body, client.tokenFormat, deps);
  const login = answer.status < 400 ? loginFrom(answer.fields, client, credential, deps) : undefined;
  if (login) return login;
  // A 4xx answer is about the login; a 5xx answer is about the server.
  const status = answer.status >= 500 || answer.status === 429 ? answer.status : 401;
  throw modelFailed({ phase: "headers", status, text: `the login of ${provider} could not be renewed: ${refusalText(answer, deps.redactor)}; ${again}` });
}

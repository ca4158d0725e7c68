import type { Env } from "../../config/index.ts";
import type { OAuthCredential } from "../../protocol/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { failureOf, modelFailed } from "../failure.ts";
import { credentialOf } from "./document.ts";
import { oauthClient } from "./oauth/client.ts";
import { loginFrom, post, refusalText, type OAuthDeps } from "./oauth/token-request.ts";
import type { AuthProfilesDeps } from "./profiles.ts";
import type { AuthFile, Stores } from "./stores.ts";

/** Provides logins that have not expired. */
export interface Renewal {
  /** The login of an id, renewed when it has expired. All callers, in all processes, share one renewal. */
  fresh(id: string): Promise<OAuthCredential>;
}

function loginIn(file: AuthFile, id: string): OAuthCredential | undefined {
  const credential = credentialOf(file.read()?.profiles[id]);
  return credential?.type === "oauth" ? credential : undefined;
}

export function createRenewal(deps: AuthProfilesDeps, stores: Stores): Renewal {
  const { clock } = deps;
  const running = new Map<string, Promise<OAuthCredential>>();
  const isFresh = (login: OAuthCredential | undefined): login is OAuthCredential =>
    login !== undefined && login.access !== "" && (login.expires ?? 0) > clock.now();

  async function ask(login: OAuthCredential): Promise<OAuthCredential> {
    const own = deps.refresh?.(login.provider);
    const { redactor, version, fetch } = deps;
    if (!own) return refreshLogin(login, deps.env(), { clock, redactor, version, fetch });
    try {
      const renewed = await own(login);
      for (const secret of [renewed.access, renewed.refresh]) redactor.register(secret);
      return { ...login, ...renewed };
    } catch (error) {
      if (failureOf(error)) throw error;
      throw modelFailed({ phase: "headers", status: 401, text: `the login of ${login.provider} could not be renewed: ${redactor.text(messageOf(error))}` });
    }
  }

  /** The holder of the lock renews; those who waited find the result. */
  async function renew(id: string): Promise<OAuthCredential> {
    const file = stores.holder(id);
    const login = await file.alone(`refresh-${id}`, async () => {
      const stored = loginIn(file, id);
      if (isFresh(stored)) return stored;
      if (!stored) throw new AppError("NOT_FOUND", `the auth profile ${id} is no longer in ${file.path}`);
      const renewed = await ask(stored);
      await file.update((document) => ({ ...document, profiles: { ...document.profiles, [id]: renewed } }));
      return renewed;
    });
    deps.log.debug("a login was renewed", { profile: id });
    return login;
  }

  /** Fallbacks when a renewal failed: a newer login stored in the meantime, the successor of a default profile, the main agent's copy. */
  function substitute(id: string): OAuthCredential | undefined {
    const now = loginIn(stores.holder(id), id);
    if (isFresh(now)) return now;
    const [provider, name] = id.split(":");
    if (name === "default") {
      for (const other of Object.keys(stores.merged().profiles)) {
        const login = other.startsWith(`${provider}:`) && other !== id ? loginIn(stores.holder(other), other) : undefined;
        if (isFresh(login)) return login;
      }
    }
    const main = loginIn(stores.main, id);
    return isFresh(main) ? main : undefined;
  }

  return {
    fresh(id) {
      const stored = loginIn(stores.holder(id), id);
      if (isFresh(stored)) return Promise.resolve(stored);
      let renewal = running.get(id);
      if (!renewal) {
        renewal = renew(id)
          .catch((error: unknown) => {
            const other = substitute(id);
            if (!other) throw error;
            deps.log.warn("a login could not be renewed; another login of the same account is used", { profile: id, error: messageOf(error) });
            return other;
          })
          .finally(() => running.delete(id));
        running.set(id, renewal);
      }
      return renewal;
    },
  };
}

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

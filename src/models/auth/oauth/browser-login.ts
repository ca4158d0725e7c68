import type { OAuthCredential } from "../../../protocol/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Random } from "../../../base/random.ts";
import { listenForCallback, parseCallback, type CallbackListener, type CallbackParams } from "./callback.ts";
import type { OAuthClient } from "./client.ts";
import { createPkce, emailOf, loginFrom, post, refusalText, type OAuthDeps } from "./token-request.ts";

export interface BrowserLoginDeps extends OAuthDeps {
  readonly random: Pick<Random, "bytes">;
  /** Shows the URL, and opens it where there is a browser. */
  readonly show: (url: string) => Promise<void> | void;
  /** Asks for the URL the browser ended at, or the code in it. Undefined when no one can be asked. */
  readonly paste?: ((signal: AbortSignal) => Promise<string>) | undefined;
  /** No browser runs on this machine: do not listen for a callback. */
  readonly remote: boolean;
  /** Milliseconds until the login times out. */
  readonly waitMs?: number;
}

const WAIT_MS = 5 * 60_000;

function authorizeUrl(client: OAuthClient, redirectUri: string, challenge: string, state: string): string {
  if (client.authorizeUrl === undefined) {
    throw new AppError("INVALID_INPUT", `expected the authorization URL of ${client.provider} (--authorize-url), or a device flow (--method device)`);
  }
  const url = new URL(client.authorizeUrl);
  const fields = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: client.scopes.join(" "),
    state,
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(fields)) if (value !== "") url.searchParams.set(name, value);
  return url.href;
}

/** The first of: the browser came back, the user pasted, time is up, the user gave up. */
async function waitForCallback(listener: CallbackListener | undefined, deps: BrowserLoginDeps): Promise<CallbackParams> {
  if (!listener && !deps.paste) {
    throw new AppError(
      "UNAVAILABLE",
      "the login's port is in use or no browser is available, and there is no terminal to paste the address into: run this in a terminal",
    );
  }
  const over = new AbortController();
  const timeUp = Promise.withResolvers<never>();
  const fail = (error: AppError): void => timeUp.reject(error);
  using _timer = deps.clock.after(deps.waitMs ?? WAIT_MS, () => fail(new AppError("TIMEOUT", "the login timed out; start again")));
  const onAbort = (): void => fail(new AppError("CANCELLED", "the login was cancelled"));
  deps.signal?.addEventListener("abort", onAbort, { once: true });
  // The timer does not keep the process alive; the listener or the terminal does.
  try {
    if (deps.signal?.aborted) onAbort();
    const ways: Promise<CallbackParams>[] = [timeUp.promise];
    if (listener) ways.push(listener.returned);
    if (deps.paste) ways.push(deps.paste(over.signal).then(parseCallback));
    return await Promise.race(ways);
  } finally {
    deps.signal?.removeEventListener("abort", onAbort);
    over.abort();
  }
}

/** Logs in with the user's browser: PKCE with S256, a random state, a callback to this machine or a pasted URL. */
export async function browserLogin(client: OAuthClient, deps: BrowserLoginDeps): Promise<OAuthCredential> {
  const { verifier, challenge } = createPkce(deps.random);
  const state = deps.random.bytes(16).toString("base64url");
  for (const secret of [verifier, state]) deps.redactor.register(secret);
  await using listener = deps.remote ? undefined : await listenForCallback(client.redirectUri, state);
  const redirectUri = listener?.redirectUri ?? client.redirectUri;
  await deps.show(authorizeUrl(client, redirectUri, challenge, state));
  const returned = await waitForCallback(listener, deps);
  if (returned.error !== undefined)
    throw new AppError("PERMISSION_DENIED", `${client.provider} refused the login: ${deps.redactor.text(returned.error.slice(0, 200))}`);
  if (returned.state !== undefined && returned.state !== state) {
    throw new AppError("INVALID_INPUT", "the pasted address belongs to another login; start again and paste the address of this one");
  }
  if (returned.code === undefined) throw new AppError("INVALID_INPUT", "expected the address the browser was redirected to, or the code in it");
  deps.redactor.register(returned.code);
  const body = {
    grant_type: "authorization_code",
    code: returned.code,
    redirect_uri: redirectUri,
    client_id: client.clientId,
    code_verifier: verifier,
    ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }),
  };
  const answer = await post(client.tokenUrl, body, client.tokenFormat, deps);
  const login = answer.status < 400 ? loginFrom(answer.fields, client, undefined, deps) : undefined;
  if (!login) throw new AppError("PERMISSION_DENIED", `${client.provider} returned no token for the login: ${refusalText(answer, deps.redactor)}`);
  const email = await emailOf(login, answer.fields, client, deps);
  return email === undefined ? login : { ...login, email };
}

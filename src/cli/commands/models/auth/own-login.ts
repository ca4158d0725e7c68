import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../../../../base/clock.ts";
import { AppError } from "../../../../base/errors.ts";
import { systemRandom } from "../../../../base/random.ts";
import { formatDuration } from "../../../../base/text.ts";
import type { OAuthCredential } from "../../../../protocol/index.ts";
import { ask } from "../../../ask.ts";
import type { Io } from "../../../io.ts";
import { isRemote, openUrl } from "../../../open-browser.ts";
import type { AuthView } from "./source.ts";

export interface OwnLogin {
  readonly provider: string;
  readonly method: "browser" | "device" | undefined;
  readonly clientId?: string | undefined;
  readonly authorizeUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly deviceUrl?: string | undefined;
  readonly userInfoUrl?: string | undefined;
  readonly redirectUri?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** Logs in as a client that the user registered: with the browser where the provider has a page for it, with a device code otherwise. */
export async function ownLogin(io: Io, view: AuthView, { provider, method, ...settings }: OwnLogin): Promise<OAuthCredential> {
  const client = view.profiles.oauthClient(provider, settings, view.env);
  if ("missing" in client) {
    throw new AppError(
      "INVALID_INPUT",
      `a login to ${provider} needs ${client.missing}; or use a plugin with its own login, or an API key: openclaw models auth add --provider ${provider}`,
    );
  }
  const signal = io.signal();
  const deps = { clock: systemClock, random: systemRandom, redactor: view.redactor, version: io.version, signal };
  if (method === "device" || (method === undefined && client.authorizeUrl === undefined)) {
    return view.profiles.deviceLogin(client, {
      ...deps,
      pause: (ms) => pause(ms, undefined, { signal }).catch(() => undefined),
      async show({ url, code, expiresAt }) {
        io.err(`Open ${url} and enter the code ${code} (within ${formatDuration(expiresAt - io.now())}).\n`);
        await openUrl(io.env, url);
      },
    });
  }
  const remote = isRemote(io.env);
  const login = await view.profiles.browserLogin(client, {
    ...deps,
    remote,
    async show(url) {
      io.err(`Open this URL in a browser:\n${url}\n`);
      await openUrl(io.env, url);
    },
    // Input that is not a terminal is read to its end, so it is only looked at when nothing else can answer.
    ...(io.interactive || remote
      ? { paste: (over: AbortSignal) => ask(io, { text: "Paste the URL of the page the browser ended on: ", expected: "that URL", signal: over }) }
      : {}),
  });
  if (client.projectUrls === undefined) return login;
  const wait = (ms: number): Promise<void> => pause(ms, undefined, { signal }).catch(() => undefined);
  return { ...login, projectId: await view.profiles.googleProject(login.access, client.projectUrls, { ...deps, env: view.env, pause: wait }) };
}

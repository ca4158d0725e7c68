import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Config, Env } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import type { Auth } from "./auth.ts";
import { createAuth } from "./create-auth.ts";
import { ensureToken, settingsFrom } from "./settings.ts";

/** The client that changed the secret gets its answer before its connection is closed. */
const ANSWER_MS = 250;

export interface OpenAuthDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly env: Env;
  readonly log: Logger;
  readonly runSecret: string;
  /** Has a secret masked from now on. */
  readonly register: (secret: string) => void;
}

/** Who may connect, following the configuration. In token mode there is always a token: one that had to be made is stored in the configuration. */
export async function openAuth(deps: OpenAuthDeps): Promise<Auth> {
  const { config, env, ids, clock, log, register } = deps;
  const saveToken = async (token: string): Promise<void> =>
    void (await config.edit({ kind: "set", path: "gateway.auth.token", value: token }, { by: "gateway" }));
  let settings = await ensureToken(settingsFrom(config.current, env), { ids, saveToken, log });
  const mask = ({ token, password }: typeof settings): void => {
    for (const secret of [token, password]) if (typeof secret === "string") register(secret);
  };
  mask(settings);
  const auth = createAuth({ ...deps, settings: () => settings, resolveSecret: config.resolveSecret, onSecret: register });
  config.onEvent((event) => {
    if (event.kind !== "changed") return;
    const next = settingsFrom(config.current, env);
    // A token that was made here and could not be saved stays good until the file has one.
    settings = next.mode === "token" && next.token === undefined && settings.token !== undefined ? { ...next, token: settings.token } : next;
    mask(settings);
    clock.after(ANSWER_MS, () => void auth.update(settings).catch((error: unknown) => log.error("the changed credentials could not be taken over", { error })));
  });
  return auth;
}

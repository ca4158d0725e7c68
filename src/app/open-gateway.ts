import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Random } from "../base/random.ts";
import type { Config, Env } from "../config/index.ts";
import {
  createAuth,
  createGateway,
  createHandlers,
  devicesHandlers,
  ensureToken,
  sessionDefaults,
  settingsFrom,
  type Auth,
  type Gateway,
  type GatewayServer,
  type HealthReport,
} from "../gateway/index.ts";
import type { Store } from "../store/index.ts";
import { createEchoResponder } from "./echo-responder.ts";

const ANSWER_MS = 250;

export interface OpenGatewayDeps {
  readonly config: Config;
  readonly store: Store;
  /** Listens already. */
  readonly server: GatewayServer;
  readonly health: () => HealthReport;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly env: Env;
  readonly version: string;
  readonly runSecret: string;
  readonly logFile: () => string;
}

/** In token mode there is always a token: one that had to be made is kept in the configuration, so that clients can be given it. */
async function openAuth(deps: OpenGatewayDeps): Promise<Auth> {
  const { config, env, ids } = deps;
  const log = deps.log.room("gateway");
  const saveToken = async (token: string): Promise<void> =>
    void (await config.edit({ kind: "set", path: "gateway.auth.token", value: token }, { by: "gateway" }));
  let settings = await ensureToken(settingsFrom(config.current, env), { ids, saveToken, log });
  const auth = createAuth({ ...deps, log, settings: () => settings, resolveSecret: config.resolveSecret });
  config.onEvent((event) => {
    if (event.kind !== "changed") return;
    const next = settingsFrom(config.current, env);
    // A token that was made here and could not be saved stays good until the file has one.
    settings = next.mode === "token" && next.token === undefined && settings.token !== undefined ? { ...next, token: settings.token } : next;
    // Whoever changed the secret over its own connection gets its answer before that is closed.
    deps.clock.after(
      ANSWER_MS,
      () => void auth.update(settings).catch((error: unknown) => log.error("the changed credentials could not be taken over", { error })),
    );
  });
  return auth;
}

/** Puts the gateway's parts together: who may connect, who answers, and what is listened on. */
export async function openGateway(deps: OpenGatewayDeps, stack: AsyncDisposableStack): Promise<Gateway> {
  const { config, store, clock, ids, version } = deps;
  const log = deps.log.room("gateway");
  const auth = await openAuth(deps);
  const defaultAgentId = (): string => config.current.agents?.list?.find((agent) => agent.default)?.id ?? config.current.agents?.list?.[0]?.id ?? "main";
  const responder = stack.use(createEchoResponder({ store, clock, ids, log: deps.log.room("agent"), defaultAgentId }));
  const restartNotBuilt = { ok: false, delayMs: 0, reason: "this version does not restart itself: stop it and start it again", coalesced: false };
  const gateway = stack.use(
    createGateway({
      ...deps,
      log,
      auth,
      responder,
      platform: process.platform,
      sessionDefaults: () => sessionDefaults(config.current),
      paths: { config: config.paths.file, state: config.paths.state },
      handlers: (hub) => ({
        ...createHandlers({ config, store, clock, ids, log, version, responder, logFile: deps.logFile, requestRestart: () => restartNotBuilt }, hub),
        ...devicesHandlers({ auth, broadcast: hub.broadcast }),
      }),
    }),
  );
  const resumed = await responder.resume();
  if (resumed > 0) log.info(`${resumed} runs of the process before this one go on`);
  return gateway;
}

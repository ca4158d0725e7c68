import { AppError, messageOf } from "../base/errors.ts";
import { openServer, type GatewayServer, type ServerDeps, type ServerSettings } from "./server.ts";

export interface Listening {
  readonly server: GatewayServer;
  /** Why it does not listen where the configuration says; undefined when it does. */
  readonly problem?: string;
}

const where = ({ port, bind = "loopback", host }: ServerSettings): string => `port ${port} (gateway.bind "${bind}"${host === undefined ? "" : ` ${host}`})`;

/**
 * Listens as the settings say. When a restarted gateway cannot, because its new port is taken or its new address is not there, it listens as it did
 * before: a change of the configuration must not end a gateway that works.
 */
export async function listen(deps: ServerDeps, lifetime: { listening: ServerSettings | undefined }): Promise<Listening> {
  const { settings, log } = deps;
  const before = lifetime.listening;
  try {
    const server = await openServer(deps);
    lifetime.listening = { ...settings, port: server.port };
    return { server };
  } catch (error) {
    if (!before || !(error instanceof AppError)) throw error;
    // Who may connect is decided by the settings as they are now.
    const fallback = { ...before, authMode: settings.authMode };
    const server = await openServer({ ...deps, settings: fallback }).catch(() => {
      throw error;
    });
    const problem = `the gateway still listens on ${where(before)}, because it could not change to ${where(settings)}: ${messageOf(error)}`;
    log.error(problem);
    return { server, problem };
  }
}

/** Signing accounts in and out. */
import { AppError, messageOf } from "../../base/errors.ts";
import type { ChannelGatewayAdapter, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { ChannelTable, ChannelLogout } from "./types.ts";
import { runtimeFor, sinkFor } from "./run.ts";
import { shown } from "./shown.ts";

type QrFunction = "loginWithQrStart" | "loginWithQrWait";
type QrPlugin<F extends QrFunction> = ChannelPlugin & { readonly gateway: Required<Pick<ChannelGatewayAdapter, F>> };

/** The channel that logs in by QR code: the named one, else the first that answers the gateway's method. */
export function qrPlugin<F extends QrFunction>(table: ChannelTable, channel: string | undefined, needs: F): QrPlugin<F> {
  const able = ({ gateway }: ChannelPlugin): boolean => gateway?.[needs] !== undefined;
  const plugins = table.list().filter((plugin) => able(plugin) && (channel === undefined || plugin.id === channel));
  const found = plugins.find(({ gatewayMethods }) => gatewayMethods?.includes("web.login.start") ?? false) ?? plugins[0];
  if (found) return found as QrPlugin<F>;
  throw new AppError(
    "UNAVAILABLE",
    channel === undefined ? "no channel that is loaded logs in by QR code; configure one first" : `${channel} does not log in by QR code`,
  );
}

interface LogoutDeps {
  readonly plugin: ChannelPlugin;
  readonly accountId: string;
  readonly cfg: HostConfig;
  readonly log: Logger;
  readonly redactor: Pick<Redactor, "text">;
}

/** Lets the channel forget the account's login. Rejects with `INVALID_INPUT` where it has none. */
export async function forgetLogin({ plugin, accountId, cfg, log, redactor }: LogoutDeps): Promise<ChannelLogout> {
  const logout = plugin.gateway?.logoutAccount;
  if (!logout) throw noLogout(plugin.id);
  try {
    const account = plugin.config.resolveAccount(cfg, accountId);
    const result = await logout({ cfg, accountId, account, runtime: runtimeFor(log), log: sinkFor(log) });
    const { cleared, loggedOut, ...rest } = result;
    return {
      ...(shown(rest, redactor) as Record<string, unknown>),
      channel: plugin.id,
      accountId,
      cleared,
      ...(loggedOut === undefined ? {} : { loggedOut }),
    };
  } catch (error) {
    throw new AppError("PLUGIN_FAILED", `${plugin.id}:${accountId} could not be logged out: ${messageOf(error)}`, { cause: error });
  }
}

export function noLogout(channel: string): AppError {
  return new AppError("INVALID_INPUT", `${channel} does not support logout; take its credentials out of channels.${channel} instead`);
}

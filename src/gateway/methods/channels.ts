import type { Channels } from "../../channels/index.ts";
import type { HandlersOf } from "./handler.ts";

/** The accounts of all channels, as methods need them. */
export type ChannelsPort = Pick<Channels, "status" | "startAccount" | "stopAccount" | "logout" | "loginQrStart" | "loginQrWait">;

/** How channels are, starting and stopping them, and logging in and out of them. */
export function channelsHandlers(channels: ChannelsPort): HandlersOf<`channels.${"status" | "logout" | "start" | "stop"}` | "web"> {
  return {
    "channels.status": ({ probe, timeoutMs }) => channels.status({ probe, timeoutMs }),
    "channels.logout": ({ channel, accountId }) => channels.logout(channel, accountId),
    "channels.start": ({ channel, accountId, restart }) => channels.startAccount(channel, accountId, { restart }),
    "channels.stop": ({ channel, accountId }) => channels.stopAccount(channel, accountId),
    "web.login.start": async ({ accountId, force, timeoutMs, verbose, phoneNumber }) => {
      const { qrDataUrl, code, ...answer } = await channels.loginQrStart({ accountId, force, timeoutMs, verbose, phoneNumber });
      return { ...answer, ...(qrDataUrl === undefined ? {} : { qrDataUrl }), ...(code === undefined ? {} : { code }) };
    },
    "web.login.wait": async (login) => ({ ...(await channels.loginQrWait(login)) }),
  };
}

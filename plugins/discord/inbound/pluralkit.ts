/** PluralKit posts messages for people under other names, by webhook. Its API says whose they are. */
import { createHttpClient, fieldsOf, type KitLog, messageOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { ChannelInboundSender } from "../types.ts";

const API = "https://api.pluralkit.me/v2";
const TIMEOUT_MS = 5000;

/** Who wrote a message that a webhook posted. The person's own message has another id, which stands for both. Undefined: PluralKit did not post it. */
export type PluralKit = (messageId: string) => Promise<{ readonly sender: ChannelInboundSender; readonly id: string } | undefined>;

export interface PluralKitOptions {
  readonly token: string | undefined;
  readonly apiRoot?: string | undefined;
  readonly log: KitLog;
}

export function createPluralKit({ token, apiRoot = API, log }: PluralKitOptions): PluralKit {
  const http = createHttpClient({
    platform: "PluralKit",
    baseUrl: apiRoot,
    headers: { "user-agent": "openclaw", ...(token === undefined ? {} : { authorization: token }) },
    secrets: token === undefined ? [] : [token],
    timeoutMs: TIMEOUT_MS,
  });
  return async (messageId) => {
    try {
      const found = fieldsOf((await http.request({ path: `/messages/${messageId}` })).json);
      const [senderId, original] = [textOf(found?.["sender"]), textOf(found?.["original"])];
      if (senderId === undefined || !/^\d+$/.test(senderId)) return undefined;
      const member = fieldsOf(found?.["member"]);
      const name = textOf(member?.["display_name"]) ?? textOf(member?.["name"]);
      return { sender: { id: senderId, ...(name === undefined ? {} : { name }) }, id: original ?? messageId };
    } catch (error) {
      if ((error as { status?: unknown }).status !== 404) log.warn(`PluralKit could not look up message ${messageId}: ${messageOf(error)}`);
      return undefined;
    }
  };
}

/** What the end of a connection means: to connect again at once, later, or not at all. */
import { ChannelError } from "openclaw/plugin-sdk/channel-kit";
import type { Ending } from "./socket.ts";

export const CODES = { loggedOut: 401, forbidden: 403, tooOld: 405, mismatch: 411, badSession: 500, replaced: 440, restart: 515 } as const;

const LINK_AGAIN = "link the number again: openclaw channels login --channel whatsapp";

function ended(message: string, { code, text }: Ending, reason: string): ChannelError {
  return new ChannelError(message, { action: "connect", status: code, description: text, delivery: { state: "retry" }, permanent: true, code: reason });
}

/** The error that the account ends or goes on with. */
export function failureOf(ending: Ending): ChannelError {
  switch (ending.code) {
    case CODES.loggedOut:
      return ended(`WhatsApp logged this device out; ${LINK_AGAIN}`, ending, "LOGGED_OUT");
    case CODES.forbidden:
      return ended("WhatsApp refuses this account (403): it may be banned or restricted; open WhatsApp on the phone to see why", ending, "FORBIDDEN");
    case CODES.mismatch:
      return ended(`this login is not from a linked device (411); update WhatsApp on the phone, then ${LINK_AGAIN}`, ending, "MULTI_DEVICE_MISMATCH");
    case CODES.replaced:
      return ended(
        "another program connected with the same WhatsApp login (440); stop it, then run: openclaw channels start --channel whatsapp",
        ending,
        "CONNECTION_REPLACED",
      );
    default:
      return new ChannelError(`the connection to WhatsApp ended (${ending.code}: ${ending.text})`, {
        action: "connect",
        status: ending.code,
        description: ending.text,
        delivery: { state: "retry" },
      });
  }
}

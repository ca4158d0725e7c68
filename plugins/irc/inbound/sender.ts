/** Who wrote, for allow lists. */
import type { IrcMessage } from "../connection/library.ts";
import type { ChannelInboundEvent } from "openclaw/plugin-sdk";

/** Case of ASCII only: what servers treat as the same name differs, and a name too few is safer than one too many. */
export const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** `irc:` and `user:` in front of an entry say nothing. */
export function allowEntry(entry: string): string {
  return folded(
    entry
      .trim()
      .replace(/^(?:(?:irc|user):)+/i, "")
      .trim(),
  );
}

/**
 * Entries that anybody can fit by choosing a name: a nick, and `nick!user`, whose second half people choose as well. What the network vouches for is
 * an account (`account:name`) and a host (`nick@host`, `nick!user@host`).
 */
export function isChosenName(entry: string): boolean {
  const bare = allowEntry(entry);
  return bare !== "" && bare !== "*" && !bare.startsWith("account:") && !/^[^@]+@[^@]+$/.test(bare);
}

/** The account that the network vouches for comes first; nicks count only where the configuration trusts them. */
export function senderOf({ nick, ident, hostname, tags }: IrcMessage, trustsNames: boolean): ChannelInboundEvent["sender"] {
  const account = tags["account"] && tags["account"] !== "*" ? `account:${folded(tags["account"])}` : undefined;
  const mask = folded(`${nick}!${ident}@${hostname}`);
  const hosts = hostname === "" ? [] : [mask, folded(`${nick}@${hostname}`)];
  const names = trustsNames ? [folded(nick), folded(`${nick}!${ident}`)] : [];
  const [id = mask, ...otherIds] = [...(account === undefined ? [] : [account]), ...hosts, ...names];
  return { id, otherIds, name: nick, username: nick, ...("bot" in tags ? { isBot: true } : {}) };
}

/** Whom a message goes to, as people and the host write it. */
import { unfit } from "openclaw/plugin-sdk/channel-kit";

const isChannelName = (name: string): boolean => /^[#&+!]/.test(name);

/** `#channel`, `@#channel` (those with a voice there), or a nick. */
export interface Target {
  readonly name: string;
  readonly isChannel: boolean;
}

/** `irc:`, `channel:x` (`#x`), `user:`, a channel's name, a nick, or `nick!user@host`. */
export function parseTarget(to: string): Target {
  const trimmed = to
    .trim()
    .replace(/^(?:irc:)+/i, "")
    .trim();
  const isNamed = /^channel:/i.test(trimmed);
  const bare = trimmed.replace(/^(?:channel|user):/i, "").trim();
  const name = isNamed && !isChannelName(bare) && !/^[@%+~&]+[#&!]/.test(bare) ? `#${bare}` : bare.replace(/!.*$/s, "");
  // One word without commas: more would be several targets, or a command of its own.
  if (!/^[^\s,:\p{Cc}][^\s,\p{Cc}]{0,199}$/u.test(name) || name === "*")
    throw unfit("send", `"${to}" is not an IRC target; use a channel such as #help, or a nick`);
  return { name, isChannel: /^[@%+~&]*[#&+!]/.test(name) };
}

/** The form that is compared and stored. */
export function normalTarget(raw: string): string | undefined {
  try {
    return parseTarget(raw).name;
  } catch {
    return undefined;
  }
}

/** From the first line to the welcome: what the server may answer until then. */
import type { IrcAccount } from "../account.ts";
import { type ChannelError, hopeless, notSent } from "openclaw/plugin-sdk/channel-kit";
import type { IrcMessage } from "./library.ts";

/** Names to take when ours is taken. */
const MAX_TRIES = 12;
/** Every server takes names of this length. */
const SURE_LENGTH = 9;

/** `nick_`, `nick__`, then short ones with a number; undefined when it is time to give up. */
function otherNick(nick: string, attempt: number): string | undefined {
  if (attempt > MAX_TRIES) return undefined;
  if (attempt <= 2) return `${nick.slice(0, 30 - attempt)}${"_".repeat(attempt)}`;
  const number = String(attempt - 2);
  return `${nick.slice(0, SURE_LENGTH - 1 - number.length)}_${number}`;
}

/** Goes on (undefined), takes another name, is welcome, or is over. */
export type RegistrationStep =
  | undefined
  | { readonly kind: "nick"; readonly nick: string }
  | { readonly kind: "welcome" }
  | { readonly kind: "over"; readonly error: ChannelError };

const SASL_FAILURES: ReadonlySet<string> = new Set(["902", "904", "905", "906", "908"]);
const TAKEN: ReadonlySet<string> = new Set(["433", "436", "437"]);

export interface Registration {
  step(message: IrcMessage): RegistrationStep;
}

const over = (error: ChannelError): RegistrationStep => ({ kind: "over", error });
/** The server's text, on one line and bounded. */
export const serverText = ({ params }: Pick<IrcMessage, "params">): string =>
  (params.at(-1) ?? "")
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, 300);

export function createRegistration({ nick, sasl, host }: IrcAccount): Registration {
  let attempt = 0;
  let loggedIn = false;

  function another(message: IrcMessage): RegistrationStep {
    attempt += 1;
    const next = otherNick(nick, attempt);
    return next === undefined
      ? over(notSent("connect", `every nick like "${nick}" is taken on ${host}: ${serverText(message)}`))
      : { kind: "nick", nick: next };
  }

  function ended(message: IrcMessage): RegistrationStep {
    const reason = serverText(message);
    if (/password|access denied|not authori[sz]ed/i.test(reason)) {
      return over(hopeless(`${host} rejected the password: ${reason}; check channels.irc.password`, "UNAUTHORIZED"));
    }
    return over(notSent("connect", `${host} closed the connection: ${reason || "no reason given"}`));
  }

  return {
    step(message) {
      const { command } = message;
      if (command === "900" || command === "903") loggedIn = true;
      if (sasl && SASL_FAILURES.has(command)) {
        return over(hopeless(`${host} rejected the SASL account "${sasl.account}": ${serverText(message)}; check channels.irc.sasl`, "UNAUTHORIZED"));
      }
      if (command === "001") {
        return sasl && !loggedIn ? over(hopeless(`${host} does not support SASL (PLAIN); remove channels.irc.sasl or use nickserv`)) : { kind: "welcome" };
      }
      if (TAKEN.has(command)) return another(message);
      // A name of ours that is too long for the server is not the one that was asked for.
      if (command === "432")
        return attempt > 0 ? another(message) : over(hopeless(`${host} rejected the nick "${nick}": ${serverText(message)}; set channels.irc.nick`));
      if (command === "464") return over(hopeless(`${host} rejected the password: ${serverText(message)}; check channels.irc.password`, "UNAUTHORIZED"));
      if (command === "465") return over(hopeless(`${host} banned the bot: ${serverText(message)}`, "FORBIDDEN"));
      return command === "ERROR" ? ended(message) : undefined;
    },
  };
}

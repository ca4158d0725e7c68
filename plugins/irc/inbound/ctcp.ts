/** Questions to our program. Answers are notices, so that no two programs ever talk to each other. */
import type { IrcMessage } from "../connection/library.ts";
import { ctcpOf } from "./message.ts";

/** At most so many answers in this time, so that others cannot make us flood. */
const MOST = 3;
const WITHIN_MS = 30_000;
const MAX_ECHO = 60;
const KNOWN = ["ACTION", "CLIENTINFO", "PING", "TIME", "VERSION"];

export interface CtcpAnswers {
  /** The line that answers, if one does. */
  answer(message: IrcMessage): string | undefined;
}

export function createCtcpAnswers(facts: { now(): number; isUs(nick: string): boolean }): CtcpAnswers {
  const times: number[] = [];
  function words(type: string, text: string): string | undefined {
    if (type === "VERSION") return "OpenClaw";
    if (type === "CLIENTINFO") return KNOWN.join(" ");
    if (type === "TIME") return new Date(facts.now()).toUTCString();
    // oxlint-disable-next-line no-control-regex
    return type === "PING" ? text.replace(/[\x00-\x1f]/g, "").slice(0, MAX_ECHO) : undefined;
  }
  return {
    answer({ command, nick, params }) {
      const ctcp = command === "PRIVMSG" && nick !== "" && facts.isUs(params[0] ?? "") && !facts.isUs(nick) ? ctcpOf(params[1] ?? "") : undefined;
      const said = ctcp && words(ctcp.type, ctcp.text);
      if (!ctcp || said === undefined) return undefined;
      const now = facts.now();
      while (times.length > 0 && now - times[0]! > WITHIN_MS) times.shift();
      if (times.length >= MOST) return undefined;
      times.push(now);
      return `NOTICE ${nick} :\u0001${`${ctcp.type} ${said}`.trimEnd()}\u0001`;
    },
  };
}

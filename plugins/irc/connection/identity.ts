/** Our nick on the network: identified to NickServ, and reclaimed when someone else holds it. */
import type { IrcAccount } from "../account.ts";
import type { KitLog, Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { IrcMessage } from "./library.ts";
import { serverText } from "./registration.ts";
import type { Session } from "./session.ts";

export interface Identity {
  begin(): void;
  saw(message: IrcMessage): void;
}

export interface IdentityDeps {
  readonly account: IrcAccount;
  readonly session: Session;
  readonly waiting: Waiting;
  readonly log: KitLog;
  /** Once in an account's life; true when it was not asked for before. */
  registers(): boolean;
}

/** How often the name is asked for while another one has it. */
const REGAIN_MS = 60_000;

export function createIdentity({ account, session, waiting, log, registers }: IdentityDeps): Identity {
  const { nick: wanted, nickserv, sasl } = account;
  let identified = false;
  const isOurs = (): boolean => session.isUs(wanted);
  const write = (line: string): void => void session.write(line).catch(() => {});

  function identify(): void {
    if (!nickserv || sasl || identified) return;
    identified = true;
    if (nickserv.registerEmail !== undefined && registers()) {
      log.info(`registering the nick with ${nickserv.service}; remove nickserv.register from the configuration when that is done`);
      write(`PRIVMSG ${nickserv.service} :REGISTER ${nickserv.password} ${nickserv.registerEmail}`);
    } else write(`PRIVMSG ${nickserv.service} :IDENTIFY ${nickserv.password}`);
  }

  async function regain(): Promise<void> {
    if (nickserv) write(`PRIVMSG ${nickserv.service} :GHOST ${wanted} ${nickserv.password}`);
    while (!session.signal.aborted && !isOurs()) {
      await waiting.sleep(REGAIN_MS, session.signal);
      if (!session.signal.aborted && !isOurs()) write(`NICK ${wanted}`);
    }
  }

  return {
    begin() {
      if (isOurs()) return identify();
      log.warn(`the nick ${wanted} is taken; using ${session.nick} for now`);
      void regain();
    },
    saw(message) {
      const { command, nick, params } = message;
      if (command === "NICK" && session.lower(params[0] ?? "") === session.lower(wanted)) {
        if (isOurs() || session.isUs(nick)) identify();
      } else if ((command === "QUIT" || command === "NICK") && session.lower(nick) === session.lower(wanted) && !isOurs()) {
        write(`NICK ${wanted}`);
      } else if (command === "NOTICE" && nickserv && session.lower(nick) === session.lower(nickserv.service)) {
        log.info(`${nickserv.service}: ${serverText(message)}`);
        if (!isOurs()) write(`NICK ${wanted}`);
      }
    },
  };
}

import type { Random } from "../../../src/base/random.ts";
import type { Fault } from "../../fakes/telegram/faults.ts";
import type { FakeTelegram } from "../../fakes/telegram/index.ts";
import type { Verb } from "./model.ts";

/** Something that was written to the bot and needs an answer. */
export interface Said {
  readonly word: string;
  readonly verb: Verb;
  readonly chatId: number;
  readonly messageId: number;
}

/** People who keep writing: some alone with the bot, some in a group. */
export interface Crowd {
  readonly said: readonly Said[];
  /** A random person writes. */
  write(round: number): void;
}

const ALONE = 3;
const IN_GROUP = 2;

export function createCrowd(telegram: FakeTelegram, random: Random): Crowd {
  const alone = Array.from({ length: ALONE }, (_, n) => telegram.person({ first_name: `Solo${n}`, username: `solo_${n}` }));
  const members = Array.from({ length: IN_GROUP }, (_, n) => telegram.person({ first_name: `Member${n}`, username: `member_${n}` }));
  const group = telegram.group({ title: "Workshop" });
  const said: Said[] = [];
  let count = 0;

  function verb(): Verb {
    const dice = random.float();
    return dice < 0.5 ? "say" : dice < 0.85 ? "do" : "slow";
  }

  return {
    said,
    write(round) {
      count += 1;
      const word = `w${round}-${count}`;
      const asked = verb();
      const isAlone = random.float() < 0.7;
      const from = isAlone ? alone[Math.floor(random.float() * ALONE)]! : members[Math.floor(random.float() * IN_GROUP)]!;
      if (!isAlone && random.float() < 0.3) {
        // What is not for the bot needs no answer.
        telegram.say(`hum h${round}-${count}`, { from, chat: group.id });
        return;
      }
      const name = isAlone ? "" : `@${telegram.bot.username} `;
      const { chatId, messageId } = telegram.say(`${name}${asked} ${word}`, { from, ...(isAlone ? {} : { chat: group.id }) });
      said.push({ word, verb: asked, chatId, messageId });
    },
  };
}

/** What a server does to its callers on a bad day. */
const FAULTS: readonly { readonly method: string; readonly fault: Fault }[] = [
  { method: "sendMessage", fault: { retryAfter: 1 } },
  { method: "sendMessage", fault: { drop: "after" } },
  { method: "sendMessage", fault: { drop: "before" } },
  { method: "sendMessage", fault: { delayMs: 300 } },
  { method: "sendMessage", fault: { status: 502, body: "<html>bad gateway</html>" } },
  { method: "editMessageText", fault: { drop: "after" } },
  { method: "editMessageText", fault: { retryAfter: 1 } },
  { method: "sendChatAction", fault: { status: 500 } },
  { method: "getUpdates", fault: { drop: "after" } },
];

/** Orders faults for some rounds; gives their names. */
export function orderFaults(telegram: FakeTelegram, random: Random): readonly string[] {
  telegram.clearFaults();
  const names: string[] = [];
  while (random.float() < 0.4) {
    const { method, fault } = FAULTS[Math.floor(random.float() * FAULTS.length)]!;
    telegram.fault(method, fault);
    names.push(`${method} ${JSON.stringify(fault)}`);
  }
  return names;
}

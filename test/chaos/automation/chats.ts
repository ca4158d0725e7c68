/** What reaches a chat: the answers of jobs, and the results of sub-agents. */
import { childrenOf } from "./model.ts";
import { ask, judgeWord, rowsOf, until, type Aftermath, type Starter } from "./starters.ts";

/** What a message is marked with that may have arrived before. */
const MARK = "(repeat?) ";

/** Sent once; one whose sending was interrupted may come once more, marked as such. `part` is what only this message has in it. */
async function judgeArrival({ telegram, stateDir, isClockSet }: Aftermath, part: string): Promise<readonly string[]> {
  const query = "SELECT state, settled_at AS settledAt FROM outbox WHERE payload LIKE ?";
  const rows = await until(() => {
    const found = rowsOf(stateDir, query, `%${part}%`);
    return found.length > 0 && found.every(({ settledAt }) => settledAt !== null) ? found : undefined;
  }, `the message with "${part}"`);
  const arrived = telegram.messages(telegram.me.id).filter(({ text }) => text.includes(part));
  const marked = arrived.filter(({ text }) => text.startsWith(MARK)).length;
  if (rows.length > 1) return [`"${part}" is in the outbox ${rows.length} times`];
  if (marked > 1 || arrived.length - marked > 1) return [`"${part}" arrived ${arrived.length} times, of which ${marked} are marked`];
  // What waited while the clock was set may be too old to be sent.
  return arrived.length === 0 && !isClockSet ? [`"${part}" did not arrive and is called ${String(rows[0]?.["state"])}`] : [];
}

export const chats: Starter = {
  name: "chats",
  takesMs: 2500,
  places: ["outbox.committed", "send.attempted", "send.receipt", "subagent.announced"],
  async begin({ client, telegram, round, now, isClockSet }) {
    const [answer, task] = [`o${round}`, `t${round}`];
    const job = {
      name: answer,
      schedule: { kind: "at", at: new Date(now() + 300).toISOString() },
      sessionTarget: "isolated",
      wakeMode: "now",
      payload: { kind: "agentTurn", message: `do ${answer}` },
      delivery: { mode: "announce", channel: "telegram", to: String(telegram.me.id) },
      deleteAfterRun: false,
    };
    // The gateway may be gone: what it has accepted counts.
    const isAdded = await ask(client, "cron.add", job).then(
      () => true,
      () => false,
    );
    // Messages that are older than the gateway's clock says are not what this is about.
    const children = isClockSet ? [] : childrenOf(task);
    if (children.length > 0) telegram.say(`spawn ${task}`);
    return {
      words: [...(isAdded ? [answer] : []), ...children],
      async judge(aftermath) {
        const { model } = aftermath;
        const broken: string[] = [];
        if (isAdded) {
          const how = await until(() => model.ended(answer), `the end of ${answer}`);
          broken.push(...(await judgeArrival(aftermath, `${how} ${answer}`)));
        }
        for (const child of children) broken.push(...(await judgeWord(aftermath, child)), ...(await judgeArrival(aftermath, `(child ${child})`)));
        return broken;
      },
    };
  },
};

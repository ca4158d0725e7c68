/** What was written while no session stood: read from the history, channel by channel. */
import { asChannelError, type Fields, fieldsOf, type KitLog, listOf, messageOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Place } from "../inbound/places.ts";
import type { Rest } from "../rest.ts";

const EPOCH = 1_420_070_400_000n;
const PAGE = 100;
const MAX_PAGES = 10;

/** The id that something written at this time would have. */
export const idAt = (ms: number): string => ((BigInt(Math.max(ms, Number(EPOCH))) - EPOCH) << 22n).toString();

export const isId = (text: string | undefined): text is string => text !== undefined && /^\d{1,20}$/.test(text);

export const laterOf = (one: string | undefined, other: string | undefined): string | undefined => {
  if (!isId(one)) return other;
  return isId(other) && BigInt(other) > BigInt(one) ? other : one;
};

/** Types of channels that have messages of their own. */
const WITH_MESSAGES: ReadonlySet<number> = new Set([0, 2, 5, 10, 11, 12, 13]);

/** Whether something may have been written there since. */
export const mayHaveNews = ({ type, lastMessageId }: Place, afterId: string): boolean =>
  WITH_MESSAGES.has(type) && isId(lastMessageId) && BigInt(lastMessageId) > BigInt(afterId);

/** Messages behind `afterId`, oldest first. A channel that cannot be read has none. */
export async function* messagesAfter(rest: Rest, channelId: string, afterId: string, log: KitLog): AsyncGenerator<Fields> {
  let after = afterId;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    let found: readonly unknown[];
    try {
      found = listOf(await rest.call("GET", `/channels/${channelId}/messages`, { query: { after, limit: PAGE } }));
    } catch (error) {
      if (asChannelError(error)?.delivery.state === "failed") return log.debug?.(`channel ${channelId} cannot be read: ${messageOf(error)}`);
      throw error;
    }
    const messages = found.map((raw) => fieldsOf(raw)).filter((message) => message !== undefined && isId(textOf(message["id"])));
    const oldestFirst = messages.toSorted((one, other) => (BigInt(textOf(one!["id"])!) < BigInt(textOf(other!["id"])!) ? -1 : 1));
    yield* oldestFirst as Fields[];
    after = textOf(oldestFirst.at(-1)?.["id"]) ?? after;
    if (found.length < PAGE) return undefined;
  }
  return log.warn(`channel ${channelId} has more than ${PAGE * MAX_PAGES} new messages; those after ${after} were not read`);
}

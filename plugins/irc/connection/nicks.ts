/** Names to take when ours is taken. */
const MAX_TRIES = 12;
/** Every server takes names of this length. */
const SURE_LENGTH = 9;

/** `nick_`, `nick__`, then short ones with a number; undefined when it is time to give up. */
export function otherNick(nick: string, attempt: number): string | undefined {
  if (attempt > MAX_TRIES) return undefined;
  if (attempt <= 2) return `${nick.slice(0, 30 - attempt)}${"_".repeat(attempt)}`;
  const number = String(attempt - 2);
  return `${nick.slice(0, SURE_LENGTH - 1 - number.length)}_${number}`;
}

/** Ids of messages: the server's where it gives some, else ours. */
import { createHash } from "node:crypto";
import type { IrcMessage } from "../connection/library.ts";

export interface MessageIds {
  /** `at`: when it was written, in milliseconds; `isExact` where the server says so. */
  idOf(message: IrcMessage, at: number, isExact: boolean): string;
}

const MAX_REMEMBERED = 2000;

/**
 * Without ids of the server, time, sender and text make one: the same for a message that a bouncer plays again with its time, another for one that
 * is said again.
 */
export function createMessageIds(): MessageIds {
  const counts = new Map<string, number>();
  return {
    idOf(message, at, isExact) {
      const given = message.tags["msgid"] ?? message.tags["draft/msgid"];
      if (given) return given;
      const what = [at, message.prefix, ...message.params].join("\0");
      const hash = createHash("sha256").update(what).digest("hex").slice(0, 24);
      const count = (counts.get(hash) ?? 0) + 1;
      counts.set(hash, count);
      if (counts.size > MAX_REMEMBERED) counts.delete(counts.keys().next().value!);
      return `${isExact ? "t" : "l"}-${at}-${hash}${count === 1 ? "" : `-${count}`}`;
    },
  };
}

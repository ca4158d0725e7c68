import { channelKey } from "./chat.ts";
import { idPart } from "./key-part.ts";

/** People with several accounts, from `session.identityLinks`. */
export interface IdentityLinks {
  /** The person that a sender is, as part of a key. */
  nameOf(channel: string, idInKey: string): string | undefined;
  /** Whether some person is called this. */
  isName(part: string): boolean;
}

interface Link {
  readonly name: string;
  readonly order: number;
}

/** What a channel's id looks like: an entry that begins with one and a colon is for that channel only. */
const CHANNEL = /^\s*([a-z0-9][a-z0-9_-]*):([^]+)$/i;

function ofChannel(byChannel: Map<string, Map<string, Link>>, channel: string): Map<string, Link> {
  const known = byChannel.get(channel) ?? new Map<string, Link>();
  byChannel.set(channel, known);
  return known;
}

/** `words` are marked in ids and names, as everywhere in direct keys. */
export function readLinks(links: Readonly<Record<string, readonly string[]>> | undefined, words: ReadonlySet<string>): IdentityLinks {
  const byChannel = new Map<string, Map<string, Link>>();
  const anywhere = new Map<string, Link>();
  const names = new Set<string>();
  let order = 0;
  for (const [written, entries] of Object.entries(links ?? {})) {
    if (written.trim() === "") continue;
    const name = idPart(written.trim(), words);
    names.add(name);
    for (const entry of entries) {
      const [, channel, id] = CHANNEL.exec(entry) ?? [];
      const known = channel === undefined ? anywhere : ofChannel(byChannel, channelKey(channel));
      const key = idPart((id ?? entry).trim(), words);
      if (key !== "" && !known.has(key)) known.set(key, { name, order: order++ });
    }
  }
  return {
    nameOf(channel, idInKey) {
      const own = byChannel.get(channel)?.get(idInKey);
      const general = anywhere.get(idInKey);
      return own && general ? (own.order < general.order ? own : general).name : (own ?? general)?.name;
    },
    isName: (part) => names.has(part),
  };
}

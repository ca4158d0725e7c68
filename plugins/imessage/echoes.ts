/** Messages of our own that come back as if someone else had written them: in a chat with oneself, and in groups that have two of our addresses. */
import { createRecent } from "openclaw/plugin-sdk/channel-kit";

const ECHO_MS = 5000;
const MOST = 500;

export interface Echoes {
  /** A text is on its way to this chat. Call the result when it is there. */
  sending(chat: string, text: string): () => void;
  sent(guid: string): void;
  wasSent(guid: string): boolean;
  /** Messages came to this address: it is one of ours. */
  receivedAt(address: string): void;
  /** Whether it is one of ours. Texts are compared only where the sender is an address of ours; each comes back once. */
  isOwn(row: { readonly guid: string; readonly text: string; readonly sender: string; readonly chats: readonly string[] }): boolean;
}

const plain = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll("\uFFFC", "").trim();

export function createEchoes(now: () => number): Echoes {
  let open: { readonly chat: string; readonly text: string; until: number }[] = [];
  const guids = new Set<string>();
  const addresses = createRecent<true>(MOST);
  return {
    sending(chat, text) {
      const entry = { chat, text: plain(text), until: Number.POSITIVE_INFINITY };
      open = [...open.filter(({ until }) => until > now()).slice(-MOST), entry];
      return () => {
        entry.until = now() + ECHO_MS;
      };
    },
    sent(guid) {
      guids.add(guid);
      for (const oldest of guids) {
        if (guids.size <= MOST) break;
        guids.delete(oldest);
      }
    },
    wasSent: (guid) => guids.has(guid),
    receivedAt: (address) => addresses.set(address, true),
    isOwn({ guid, text, sender, chats }) {
      if (guids.has(guid)) return true;
      if (addresses.get(sender) === undefined) return false;
      const found = open.findIndex((entry) => entry.until > now() && entry.text === plain(text) && entry.text !== "" && chats.includes(entry.chat));
      if (found < 0) return false;
      open = open.toSpliced(found, 1);
      return true;
    },
  };
}

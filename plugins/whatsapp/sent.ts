/** What we sent, by message id: for recipients that ask for a message again, and to know our own messages. */
import type { proto } from "baileys";
import type { PluginRuntime } from "openclaw/plugin-sdk";
import { createRecent } from "openclaw/plugin-sdk/channel-kit";
import type { Library } from "./session/library.ts";

/** Recipients ask again for a message for a few days at most. */
const KEPT_MS = 7 * 24 * 3_600_000;
const MAX_SENT = 5000;

export interface SentMessages {
  put(id: string, message: proto.IMessage): Promise<void>;
  get(id: string): Promise<proto.IMessage | undefined>;
}

type State = Pick<PluginRuntime["state"], "openKeyedStore">;

/** With no store of the host (older ones have none) only this process remembers. */
export function createSentMessages(accountId: string, library: Library, state: State | undefined): SentMessages {
  const { proto } = library;
  const store = state?.openKeyedStore?.<string>({ namespace: `sent-${accountId}`, maxEntries: MAX_SENT, defaultTtlMs: KEPT_MS });
  const recent = createRecent<proto.IMessage>(MAX_SENT);
  return {
    async put(id, message) {
      if (!store) return recent.set(id, message);
      await store.register(id, Buffer.from(proto.Message.encode(message).finish()).toString("base64"));
    },
    async get(id) {
      const text = await store?.lookup(id);
      return text === undefined ? recent.get(id) : proto.Message.decode(Buffer.from(text, "base64"));
    },
  };
}

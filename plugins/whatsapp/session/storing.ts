/**
 * What a message changes is on the disk before the other side knows of it. The library acknowledges a message before anybody has seen it. Here it is stored first: it is decrypted once without keeping what that changes in the
 * Signal keys, handed over, and decrypted again for good. If this process dies before it is stored, the keys are as they were: WhatsApp brings the message
 * again, and it can be read.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { BinaryNode, SignalKeyStoreWithTransaction, WAMessage } from "baileys";
import type { Library } from "./library.ts";

/** Runs tasks one after the other. */
export type Lane = <T>(task: () => Promise<T>) => Promise<T>;

/**
 * Reading a message and sending one both change the session with a person, and each works on a copy until it is done: side by side, one would undo what the
 * other did.
 */
export function createLane(): Lane {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const mine = last.then(task);
    last = mine.catch(() => {});
    return mine;
  };
}

type MakeRepository = Library["DEFAULT_CONNECTION_CONFIG"]["makeSignalRepository"];

/** Ends a transaction without keeping it. */
const UNDONE = new Error("this transaction is not kept");

export interface StoringDeps {
  readonly library: Library;
  readonly lane: Lane;
  /** Resolves when the message is stored. What it throws leaves the message unacknowledged. */
  store(message: WAMessage, isBacklog: boolean): Promise<void>;
}

export interface Storing {
  readonly makeSignalRepository: MakeRepository;
  /** To be called with every stanza of a message before the library has it. */
  saw(stanza: BinaryNode): void;
  /** Runs what sends a message of ours: sessions that are there are used, and not made again. */
  sending<T>(task: () => Promise<T>): Promise<T>;
  /** Who we are, once that is known. */
  self: { readonly id: string; readonly lid?: string | undefined } | undefined;
}

/** Whom the open sessions of a stored record are with, in the form that the library stores. */
function openIdentities(record: unknown): readonly string[] {
  const { _sessions: sessions = {} } = (record ?? {}) as {
    readonly _sessions?: Readonly<Record<string, { readonly indexInfo?: { readonly closed?: number; readonly remoteIdentityKey?: string } }>>;
  };
  return Object.values(sessions).flatMap(({ indexInfo }) => (indexInfo?.closed === -1 && indexInfo.remoteIdentityKey ? [indexInfo.remoteIdentityKey] : []));
}

export function createStoring({ library, lane, store }: StoringDeps): Storing {
  const { cleanMessage, decodeMessageNode, DEFAULT_CONNECTION_CONFIG, proto, unpadRandomMax16 } = library;
  const stanzas = new WeakMap<object, BinaryNode>();
  // A turn that begins in here must not believe that it is inside of the transaction: what it sends would never reach the disk.
  const outside = AsyncLocalStorage.snapshot();
  const isSending = new AsyncLocalStorage<true>();

  async function take(ciphertext: Uint8Array, plain: Uint8Array): Promise<void> {
    const stanza = stanzas.get(ciphertext);
    if (!stanza || !storing.self || stanza.attrs["category"] === "peer") return;
    const { id, lid = "" } = storing.self;
    const { fullMessage } = decodeMessageNode(stanza, id, lid);
    const decoded = proto.Message.decode(unpadRandomMax16(plain));
    const message: WAMessage = { ...fullMessage, message: decoded.deviceSentMessage?.message ?? decoded };
    cleanMessage(message, id, lid);
    await outside(() => store(message, stanza.attrs["offline"] !== undefined));
  }

  const storing: Storing = {
    self: undefined,
    sending: (task) => isSending.run(true, task),
    saw(stanza) {
      if (!Array.isArray(stanza.content)) return;
      for (const { content } of stanza.content) if (content instanceof Uint8Array) stanzas.set(content, stanza);
    },
    makeSignalRepository(auth, logger, pnToLid) {
      const inner = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, pnToLid);
      const keys = auth.keys as SignalKeyStoreWithTransaction;
      async function peek(key: string, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array> {
        let plain: Uint8Array | undefined;
        await keys
          .transaction(async () => {
            plain = await decrypt();
            throw UNDONE;
          }, key)
          .catch((error: unknown) => error === UNDONE || Promise.reject(error as Error));
        return plain!;
      }
      async function stored(ciphertext: Uint8Array, key: string, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array> {
        // Nothing is held while the host takes the message: what it does meanwhile may well be to send one.
        await take(ciphertext, await lane(() => peek(key, decrypt)));
        return lane(decrypt);
      }
      /**
       * The library sends inside of a transaction that it commits after the message has left. Killed in between, the session that the other side uses from
       * then on would be unknown here, and nothing that it writes could be read: so each of these steps is on the disk when it is done.
       */
      const atOnce =
        <A extends unknown[], R>(step: (...args: A) => R) =>
        (...args: A): R =>
          outside(() => step(...args));
      /**
       * With the first message to a person after each start the library asks for their keys and makes a new session, though there is one: it uses up one of their
       * keys each time, and what they wrote meanwhile belongs to the old one. It does so for a repeat that they asked for, too, and there it is needed.
       */
      async function injectE2ESession(options: Parameters<typeof inner.injectE2ESession>[0]): Promise<void> {
        if (isSending.getStore() && (await isSameIdentity(options))) return;
        await inner.injectE2ESession(options);
      }
      async function isSameIdentity({ jid, session }: Parameters<typeof inner.injectE2ESession>[0]): Promise<boolean> {
        if (!(await inner.validateSession(jid)).exists) return false;
        const address = inner.jidToSignalProtocolAddress(jid);
        const { [address]: record } = await keys.get("session", [address]);
        return openIdentities(record).includes(Buffer.from(session.identityKey).toString("base64"));
      }
      return {
        ...inner,
        encryptMessage: atOnce(inner.encryptMessage),
        encryptGroupMessage: atOnce(inner.encryptGroupMessage),
        injectE2ESession: (options) => {
          const kept = isSending.getStore();
          return outside(() => (kept ? isSending.run(true, () => injectE2ESession(options)) : injectE2ESession(options)));
        },
        migrateSession: atOnce(inner.migrateSession),
        validateSession: atOnce(inner.validateSession),
        deleteSession: atOnce(inner.deleteSession),
        decryptMessage: (options) => stored(options.ciphertext, options.jid, () => inner.decryptMessage(options)),
        decryptGroupMessage: (options) => stored(options.msg, options.group, () => inner.decryptGroupMessage(options)),
      };
    },
  };
  return storing;
}

/** A device with an identity and Signal sessions of its own: the phone of a person. */
import { createRequire } from "node:module";
import {
  addTransactionCapability,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  initAuthCreds,
  proto,
  type AuthenticationCreds,
  type BinaryNode,
  type SignalDataSet,
  type SignalKeyStore,
  unpadRandomMax16,
} from "baileys";

interface Session {
  readonly indexInfo: { closed: number; used: number };
  readonly constructor: { deserialize(data: unknown): Session };
  serialize(): unknown;
}
interface Cipher {
  doDecryptWhisperMessage(message: Uint8Array, session: Session): Promise<Uint8Array>;
}
const signal = createRequire(createRequire(import.meta.url).resolve("baileys"))("libsignal") as {
  readonly SessionRecord: { readonly prototype: object };
  readonly SessionCipher: { readonly prototype: Cipher };
};
// The library prints every session that it opens or closes.
Object.assign(signal.SessionRecord.prototype, {
  closeSession(session: Session) {
    session.indexInfo.closed = Date.now();
  },
  openSession(session: Session) {
    session.indexInfo.closed = -1;
  },
});
// It also spoils the sessions that a message does not belong to; a phone does not.
Object.assign(signal.SessionCipher.prototype, {
  async decryptWithSessions(this: Cipher, message: Uint8Array, sessions: readonly Session[]) {
    for (const session of sessions) {
      const before = structuredClone(session.serialize());
      try {
        const plaintext = await this.doDecryptWhisperMessage(message, session);
        session.indexInfo.used = Date.now();
        return { session, plaintext };
      } catch {
        Object.assign(session, session.constructor.deserialize(before));
      }
    }
    throw new Error(`a message belongs to none of the ${sessions.length} sessions with its sender`);
  },
});

type Repository = ReturnType<typeof DEFAULT_CONNECTION_CONFIG.makeSignalRepository>;

/** What others need to write to a device for the first time. */
export interface KeyBundle {
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signed: { readonly id: number; readonly value: Uint8Array; readonly signature: Uint8Array };
  readonly once?: { readonly id: number; readonly value: Uint8Array } | undefined;
}

export interface Encrypted {
  readonly type: "pkmsg" | "msg";
  readonly ciphertext: Uint8Array;
}

export interface FakeDevice {
  readonly creds: AuthenticationCreds;
  /** With a key that is used up by it. */
  bundle(): Promise<KeyBundle>;
  /** The other side's keys, where there is no session with it yet. */
  encrypt(to: string, message: proto.IMessage, keys: () => KeyBundle): Promise<Encrypted>;
  decrypt(from: string, node: BinaryNode): Promise<proto.Message>;
  encryptToGroup(group: string, as: string, message: proto.IMessage): Promise<{ readonly ciphertext: Uint8Array; readonly distribution: Uint8Array }>;
  learnSenderKey(from: string, group: string, distribution: Uint8Array): Promise<void>;
  decryptFromGroup(from: string, group: string, ciphertext: Uint8Array): Promise<proto.Message>;
}

// Nothing of a device is worth a line in a test's output.
const nothing = (): void => {};
const quiet: typeof DEFAULT_CONNECTION_CONFIG.logger = {
  level: "silent",
  child: () => quiet,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};

function createMemoryKeys(): SignalKeyStore {
  const values = new Map<string, unknown>();
  return {
    get: (type, ids) =>
      Promise.resolve(Object.fromEntries(ids.flatMap((id) => (values.has(`${type}/${id}`) ? [[id, values.get(`${type}/${id}`)]] : []))) as never),
    set(data: SignalDataSet) {
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries ?? {})) {
          if (value === null) values.delete(`${type}/${id}`);
          else values.set(`${type}/${id}`, structuredClone(value));
        }
      }
    },
  };
}

/** Public keys of libsignal begin with their type. */
const signalKey = (key: Uint8Array): Uint8Array => Buffer.concat([Buffer.from([5]), key]);
const read = (padded: Uint8Array): proto.Message => proto.Message.decode(unpadRandomMax16(padded));

export function createDevice(): FakeDevice {
  const creds = initAuthCreds();
  const store = createMemoryKeys();
  const keys = addTransactionCapability(store, quiet, { maxCommitRetries: 1, delayBetweenTriesMs: 0 });
  const repository: Repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, quiet, async () => undefined);
  let nextKey = 1;
  return {
    creds,
    async bundle() {
      const pair = Curve.generateKeyPair();
      const id = nextKey++;
      await store.set({ "pre-key": { [String(id)]: pair } });
      const { keyId, keyPair, signature } = creds.signedPreKey;
      return {
        registrationId: creds.registrationId,
        identity: creds.signedIdentityKey.public,
        signed: { id: keyId, value: keyPair.public, signature },
        once: { id, value: pair.public },
      };
    },
    async encrypt(to, message, keysOf) {
      if (!(await repository.validateSession(to)).exists) {
        const { registrationId, identity, signed, once } = keysOf();
        await repository.injectE2ESession({
          jid: to,
          session: {
            registrationId,
            identityKey: signalKey(identity),
            signedPreKey: { keyId: signed.id, publicKey: signalKey(signed.value), signature: signed.signature },
            ...(once ? { preKey: { keyId: once.id, publicKey: signalKey(once.value) } } : {}),
          },
        });
      }
      return repository.encryptMessage({ jid: to, data: encodeWAMessage(message) });
    },
    async decrypt(from, { attrs, content }) {
      const type = attrs["type"];
      if (type !== "pkmsg" && type !== "msg") throw new Error(`a device got ${type}`);
      return read(await repository.decryptMessage({ jid: from, type, ciphertext: content as Uint8Array }));
    },
    async encryptToGroup(group, as, message) {
      const { ciphertext, senderKeyDistributionMessage } = await repository.encryptGroupMessage({ group, meId: as, data: encodeWAMessage(message) });
      return { ciphertext, distribution: senderKeyDistributionMessage };
    },
    learnSenderKey: (from, group, distribution) =>
      repository.processSenderKeyDistributionMessage({ authorJid: from, item: { groupId: group, axolotlSenderKeyDistributionMessage: distribution } }),
    decryptFromGroup: async (from, group, ciphertext) => read(await repository.decryptGroupMessage({ group, authorJid: from, msg: ciphertext })),
  };
}

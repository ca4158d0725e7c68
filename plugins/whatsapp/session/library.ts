/** The library, loaded with the first connection and not before. */
import { createRequire } from "node:module";
import type * as Baileys from "baileys";

export type Library = typeof Baileys;
export type Logger = Parameters<Library["makeCacheableSignalKeyStore"]>[1] & {};

interface SessionRecord {
  isClosed(session: unknown): boolean;
  sessions: Record<string, { readonly indexInfo: { closed: number; baseKey: Uint8Array } }>;
}

interface SessionEntry {
  readonly indexInfo: { closed: number };
}

/** Sessions that are closed are thrown away beyond this many, the oldest first, as the library does. */
const MAX_CLOSED = 40;

/** One session with a device; it can be written down and read again. */
interface StoredSession {
  readonly indexInfo: { used: number };
  readonly constructor: { deserialize(data: unknown): StoredSession };
  serialize(): unknown;
}

interface SessionCipher {
  doDecryptWhisperMessage(message: Uint8Array, session: StoredSession): Promise<Uint8Array>;
}

interface Signal {
  readonly SessionRecord: { readonly prototype: SessionRecord };
  readonly SessionCipher: { readonly prototype: SessionCipher };
  readonly SessionError: new (message: string) => Error;
  readonly curve: { verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean };
}

/**
 * The library prints whole sessions, private keys included, to the console when it opens, closes or removes one.
 * These do the same without a word.
 */
function silence({ SessionRecord }: Signal): void {
  Object.assign(SessionRecord.prototype, {
    closeSession(this: SessionRecord, session: SessionEntry) {
      if (!this.isClosed(session)) session.indexInfo.closed = Date.now();
    },
    openSession(this: SessionRecord, session: SessionEntry) {
      session.indexInfo.closed = -1;
    },
    removeOldSessions(this: SessionRecord) {
      while (Object.keys(this.sessions).length > MAX_CLOSED) {
        const closed = Object.entries(this.sessions).filter(([, { indexInfo }]) => indexInfo.closed !== -1);
        const [oldest] = closed.toSorted(([, a], [, b]) => a.indexInfo.closed - b.indexInfo.closed);
        if (!oldest) throw new Error("corrupt Signal sessions: none is closed, and there are too many");
        delete this.sessions[oldest[0]];
      }
    },
  });
}

/**
 * A message is tried with every session that there is with its sender. The library moves the keys of a session on before it knows whether the message belongs to
 * it, and stores them with those of the one that fits: the next message of the other session could not be read any more. Here a session that does not fit stays
 * as it was.
 */
function keepOtherSessions({ SessionCipher, SessionError }: Signal): void {
  Object.assign(SessionCipher.prototype, {
    async decryptWithSessions(this: SessionCipher, message: Uint8Array, sessions: readonly StoredSession[]) {
      const errors: unknown[] = [];
      for (const session of sessions) {
        const before = structuredClone(session.serialize());
        try {
          const plaintext = await this.doDecryptWhisperMessage(message, session);
          session.indexInfo.used = Date.now();
          return { session, plaintext };
        } catch (error) {
          errors.push(error);
          Object.assign(session, session.constructor.deserialize(before));
        }
      }
      const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)));
      throw new SessionError(`No matching sessions found for message (${[...new Set(reasons)].join(", ") || "there is none"})`);
    },
  });
}

/** The library takes every signature of the right length for a good one: those of WhatsApp's server certificate and of the phone's approval are checked here. */
function checkSignatures({ Curve, generateSignalPubKey }: Library, { curve }: Signal): void {
  Curve.verify = (key, message, signature) => {
    try {
      return curve.verifySignature(generateSignalPubKey(key), message, signature);
    } catch {
      return false;
    }
  };
}

export async function loadLibrary(): Promise<Library> {
  const library = await import("baileys");
  const require = createRequire(createRequire(import.meta.url).resolve("baileys"));
  const signal = require("libsignal") as Signal;
  silence(signal);
  keepOtherSessions(signal);
  checkSignatures(library, signal);
  return library;
}

/** Nothing of the library's own log: it names people, keys and texts. What matters is said by the channel. */
export function quietLogger(): Logger {
  const nothing = (): void => {};
  const logger: Logger = { level: "silent", child: () => logger, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
  return logger;
}

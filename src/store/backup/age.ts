/**
 * Passphrase-encrypted archives in the age format (age-encryption.org/v1), which the `age` program can open too. Built on Node's crypto: the age
 * library adds five packages.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scrypt } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { Transform } from "node:stream";
import { equalSecrets } from "../../base/equal-secrets.ts";
import { AppError, errorOf } from "../../base/errors.ts";
import type { Unopened } from "./types.ts";

const VERSION = "age-encryption.org/v1\n";
const SCRYPT_LABEL = "age-encryption.org/v1/scrypt";
const CHUNK = 64 * 1024;
const TAG = 16;
/** 128 MB and a fraction of a second per guess. */
const LOG_N = 17;
/** Higher values would take gigabytes of memory; no legitimate backup uses them. */
const MAX_LOG_N = 20;
const HEADER = /^age-encryption\.org\/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9]\d?)\n([A-Za-z0-9+/]{43})\n---( ([A-Za-z0-9+/]{43})\n)/;
const MAX_HEADER = 512;

const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
const refuse = (what: string): AppError => new AppError("INVALID_INPUT", what);
/** For a backup whose content could not be read, so it may still be intact. */
const unopened = (reason: Unopened, what: string): AppError => new AppError("INVALID_INPUT", what, { details: { unopened: reason } });

/** An encrypted backup cannot be opened without its passphrase. */
export const passphraseMissing = (): AppError => unopened("passphrase_missing", "the backup is encrypted: pass its passphrase with --passphrase-file <file>");

function passphraseKey(passphrase: string, salt: Buffer, logN: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const N = 2 ** logN;
  scrypt(passphrase, Buffer.concat([Buffer.from(SCRYPT_LABEL), salt]), 32, { N, r: 8, p: 1, maxmem: 130 * N * 8 + 2 ** 20 }, (error, key) =>
    error ? reject(error) : resolve(key),
  );
  return promise;
}

const derive = (key: Buffer, salt: Buffer, info: string): Buffer => Buffer.from(hkdfSync("sha256", key, salt, info, 32));
const macOf = (fileKey: Buffer, header: string): Buffer =>
  createHmac("sha256", derive(fileKey, Buffer.alloc(0), "header"))
    .update(header)
    .digest();

function seal(key: Buffer, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: TAG });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined when the key is wrong or the data was changed. */
function open(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer | undefined {
  if (sealed.length < TAG) return undefined;
  const decipher = createDecipheriv("chacha20-poly1305", key, nonce, { authTagLength: TAG });
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Nonces of the chunks in order: a counter, and a flag for the last chunk. */
function createNonces(): (isLast: boolean) => Buffer {
  let counter = 0n;
  return (isLast) => {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(counter, 3);
    nonce[11] = isLast ? 1 : 0;
    counter += 1n;
    return nonce;
  };
}

/** Cuts a stream into chunks of `size` bytes; `last` gets the remainder, and is called once. */
function inPieces(size: number, each: (piece: Buffer) => Buffer, last: (piece: Buffer) => Buffer): Transform {
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      try {
        // A full chunk may be the last one: it waits until more data arrives.
        while (held.length > size) {
          this.push(each(held.subarray(0, size)));
          held = held.subarray(size);
        }
        done();
      } catch (error) {
        done(errorOf(error));
      }
    },
    flush(done) {
      try {
        done(null, last(held));
      } catch (error) {
        done(errorOf(error));
      }
    },
  });
}

/** The header of an encrypted file, and the stream that encrypts the rest. */
export async function encrypting(passphrase: string): Promise<{ readonly head: Buffer; readonly stream: Transform }> {
  const fileKey = randomBytes(16);
  const salt = randomBytes(16);
  const wrapped = seal(await passphraseKey(passphrase, salt, LOG_N), Buffer.alloc(12), fileKey);
  const header = `${VERSION}-> scrypt ${base64(salt)} ${LOG_N}\n${base64(wrapped)}\n---`;
  const nonce = randomBytes(16);
  const key = derive(fileKey, nonce, "payload");
  const next = createNonces();
  return {
    head: Buffer.concat([Buffer.from(`${header} ${base64(macOf(fileKey, header))}\n`), nonce]),
    stream: inPieces(
      CHUNK,
      (piece) => seal(key, next(false), piece),
      (piece) => seal(key, next(true), piece),
    ),
  };
}

function headOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAX_HEADER);
    return bytes.toString("latin1", 0, readSync(file, bytes, 0, MAX_HEADER, 0));
  } finally {
    closeSync(file);
  }
}

export function isEncrypted(path: string): boolean {
  return headOf(path).startsWith(VERSION);
}

/** The offset of a file's encrypted content, and the stream that decrypts it. Throws if the passphrase is wrong or the file does not use one. */
export async function decrypting(path: string, passphrase: string): Promise<{ readonly start: number; readonly stream: Transform }> {
  const head = headOf(path);
  const match = HEADER.exec(head);
  if (!match)
    throw unopened(
      "not_with_passphrase",
      "the backup is encrypted for a key, not with a passphrase, or its header is damaged; open it with the program that encrypted it",
    );
  const [whole, salt = "", logN, wrapped = "", macLine = "", mac = ""] = match;
  if (Number(logN) > MAX_LOG_N) throw unopened("passphrase_cost", `the backup asks for 2^${logN} rounds for its passphrase; 2^${MAX_LOG_N} are allowed`);
  const key = await passphraseKey(passphrase, Buffer.from(salt, "base64"), Number(logN));
  const fileKey = open(key, Buffer.alloc(12), Buffer.from(wrapped, "base64"));
  if (!fileKey) throw unopened("passphrase_wrong", "the passphrase does not open the backup");
  if (!equalSecrets(mac, base64(macOf(fileKey, whole.slice(0, -macLine.length))))) throw refuse("the header of the backup was changed");
  const start = whole.length + 16;
  const nonce = Buffer.from(head.slice(whole.length, start), "latin1");
  const payload = derive(fileKey, nonce, "payload");
  const next = createNonces();
  const opened = (piece: Buffer, isLast: boolean): Buffer => {
    const plain = open(payload, next(isLast), piece);
    if (!plain) throw refuse("the backup is damaged, or was not copied completely");
    return plain;
  };
  return {
    start,
    stream: inPieces(
      CHUNK + TAG,
      (piece) => opened(piece, false),
      (piece) => opened(piece, true),
    ),
  };
}

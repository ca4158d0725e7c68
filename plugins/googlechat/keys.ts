/** The platform's public keys, fetched when they are needed and kept for ten minutes. */
import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { type Fields, fieldsOf, type HttpClient, messageOf, notSent, recordsOf, textOf } from "openclaw/plugin-sdk/channel-kit";

interface PublicKey {
  readonly key: KeyObject;
  /** Of its certificate, in milliseconds. */
  readonly from: number;
  readonly until: number;
}

export interface KeySource {
  /** The key with this id. Undefined: the platform has none. Throws where that cannot be found out. */
  get(id: string): Promise<KeyObject | undefined>;
}

export interface KeySourceDeps {
  readonly http: HttpClient;
  /** Where the keys are: certificates by id, or a set of JSON web keys. */
  readonly path: string;
  readonly now: () => number;
}

const FRESH_MS = 600_000;
/** Keys are used this long while new ones cannot be fetched. */
const STALE_MS = 3_600_000;
/** A key id that is not known is asked for this often at most: strangers can make any up. */
const AGAIN_MS = 60_000;
/** After a failure nothing is asked for this long. */
const FAILED_MS = 2000;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 50;

const isRsa = (key: KeyObject): boolean => key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;

/** One that cannot be read is left out. */
function attempt(make: () => PublicKey): PublicKey | undefined {
  try {
    const made = make();
    return isRsa(made.key) ? made : undefined;
  } catch {
    return undefined;
  }
}

function certificate(pem: string): PublicKey | undefined {
  return attempt(() => {
    const { publicKey, validFrom, validTo } = new X509Certificate(pem);
    return { key: publicKey, from: Date.parse(validFrom), until: Date.parse(validTo) };
  });
}

function webKey(jwk: Fields): PublicKey | undefined {
  const isForSigning = jwk["kty"] === "RSA" && (jwk["use"] ?? "sig") === "sig" && (jwk["alg"] ?? "RS256") === "RS256";
  if (!isForSigning) return undefined;
  const key = { kty: "RSA", n: textOf(jwk["n"]) ?? "", e: textOf(jwk["e"]) ?? "" };
  return attempt(() => ({ key: createPublicKey({ key, format: "jwk" }), from: 0, until: Number.POSITIVE_INFINITY }));
}

/** `{ keys: [ … ] }` or `{ id: certificate }`. */
export function readKeys(body: unknown): ReadonlyMap<string, PublicKey> {
  const fields = fieldsOf(body) ?? {};
  const found: [string | undefined, PublicKey | undefined][] = Array.isArray(fields["keys"])
    ? recordsOf(fields["keys"]).map((jwk) => [textOf(jwk["kid"]), webKey(jwk)])
    : Object.entries(fields).map(([id, pem]) => [id, typeof pem === "string" ? certificate(pem) : undefined]);
  return new Map(found.slice(0, MAX_KEYS).flatMap(([id, key]): [string, PublicKey][] => (id !== undefined && key ? [[id, key]] : [])));
}

export function createKeySource({ http, path, now }: KeySourceDeps): KeySource {
  let known: ReadonlyMap<string, PublicKey> = new Map();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failed: { readonly at: number; readonly why: string } | undefined;
  let fetching: Promise<void> | undefined;

  async function load(): Promise<void> {
    triedAt = now();
    const { json } = await http.request({ path, maxBytes: MAX_BYTES, timeoutMs: 10_000, action: "fetch the keys" });
    const read = readKeys(json);
    if (read.size === 0) throw notSent("fetch the keys", "Google returned no usable key");
    known = read;
    fetchedAt = now();
  }
  function refresh(): Promise<void> {
    if (failed && now() - failed.at < FAILED_MS) return Promise.reject(notSent("fetch the keys", failed.why));
    fetching ??= load()
      .then(
        () => void (failed = undefined),
        (error: unknown) => {
          failed = { at: now(), why: messageOf(error) };
          throw error;
        },
      )
      .finally(() => (fetching = undefined));
    return fetching;
  }
  const age = (): number => now() - fetchedAt;

  function usable(id: string): KeyObject | undefined {
    const found = known.get(id);
    return found && found.from <= now() && now() < found.until ? found.key : undefined;
  }

  return {
    async get(id) {
      if (age() < FRESH_MS) {
        const key = usable(id);
        if (key || now() - triedAt < AGAIN_MS) return key;
      }
      try {
        await refresh();
      } catch (error) {
        const key = age() < STALE_MS ? usable(id) : undefined;
        if (key) return key;
        // Not a word about the request: the platform brings it again.
        throw notSent("verify", `the platform's keys could not be fetched (${messageOf(error)})`);
      }
      return usable(id);
    },
  };
}

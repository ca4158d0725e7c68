const SECRET = /token$|password|passphrase|secret|api.?key|private.?key|^credentials?$|^serviceaccount$/i;
const NOT_SECRET = /max.?tokens?$|token.?(count|limit|budget)|passwordfile$|(file|path)$/i;

/** True for keys that by their name hold a secret, wherever they stand. */
export function isSecretKey(key: string): boolean {
  return SECRET.test(key) && !NOT_SECRET.test(key);
}

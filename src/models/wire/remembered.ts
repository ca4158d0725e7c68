/**
 * Caches what was derived from an object, for as long as the object lives. For objects that never change: messages of a
 * conversation and schemas of tools come back call after call, and converting a long conversation with every turn would be expensive.
 */
export function remembered<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const known = made.get(key);
    if (known) return known.value;
    const value = make(key);
    made.set(key, { value });
    return value;
  };
}

/** True when the list begins with these very items. */
export function beginsWith(list: readonly unknown[], items: readonly unknown[]): boolean {
  if (items.length > list.length) return false;
  for (let at = 0; at < items.length; at += 1) if (list[at] !== items[at]) return false;
  return true;
}

/** The same for texts, of which the last few are cached: a prompt comes back call after call, as part of a new object each time. */
export function rememberedText<V>(make: (key: string) => V, most = 8): (key: string) => V {
  const made = new Map<string, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    if (made.size >= most) made.delete(made.keys().next().value!);
    made.set(key, value);
    return value;
  };
}

const text = remembered((value: object): string => JSON.stringify(value));
const bytes = remembered((value: object): Uint8Array => Buffer.from(JSON.stringify(value)));

/** A list that grows from call to call: its known items, as bytes. */
interface Beginning {
  readonly items: readonly object[];
  /** With spare capacity, so that new items are appended without copying. */
  readonly bytes: Uint8Array;
  readonly length: number;
}

const NOTHING: Beginning = { items: [], bytes: new Uint8Array(), length: 0 };
const GROWTH = 1.25;

/** By its second item: the first may be a prompt, which is another object when it changes. */
const beginnings = new WeakMap<object, Beginning>();

function extended(begun: Beginning, items: readonly object[]): Beginning {
  const added = Buffer.from(
    items
      .slice(begun.items.length)
      .map((item) => `,${JSON.stringify(item)}`)
      .join(""),
  );
  const length = begun.length + added.byteLength;
  let all = begun.bytes;
  if (length > all.byteLength) {
    all = Buffer.allocUnsafeSlow(Math.ceil(length * GROWTH));
    all.set(begun.bytes.subarray(0, begun.length));
  }
  all.set(added, begun.length);
  return { items, bytes: all, length };
}

/** How many items will come back unchanged: of a conversation those before the last user message, which comes back as another object. */
function lastingOf(first: object, rest: readonly object[]): number {
  if (!("role" in first)) return rest.length;
  return rest.findLastIndex((item) => (item as { readonly role?: unknown }).role === "user");
}

type Part = string | Uint8Array;

function listParts(list: readonly object[]): readonly Part[] {
  const [first, second] = list;
  if (!first || !second) return [`[${list.map(text).join(",")}]`];
  const rest = list.slice(1);
  const known = beginnings.get(second);
  let begun = known && beginsWith(rest, known.items) ? known : NOTHING;
  const lasting = lastingOf(first, rest);
  if (lasting > begun.items.length) {
    begun = extended(begun, rest.slice(0, lasting));
    beginnings.set(second, begun);
  }
  const tail = rest.slice(begun.items.length).map((item) => `,${text(item)}`);
  return ["[", bytes(first), begun.bytes.subarray(0, begun.length), `${tail.join("")}]`];
}

/**
 * An object as JSON, in chunks of bytes; lists with recurring items are assembled from cached bytes. Send the chunks as
 * they are: joined, they would be a long buffer for every call.
 */
export function bodyPieces(body: Readonly<Record<string, unknown>>, lists: readonly string[]): readonly Uint8Array[] {
  const parts: Part[] = [];
  let plain = "{";
  for (const [name, value] of Object.entries(body)) {
    const isList = lists.includes(name) && Array.isArray(value);
    const own = isList ? "" : JSON.stringify(value);
    // Values without a JSON form are left out.
    if (own === undefined) continue;
    plain += `${plain === "{" && parts.length === 0 ? "" : ","}${JSON.stringify(name)}:${own}`;
    if (!isList) continue;
    parts.push(plain, ...listParts(value as readonly object[]));
    plain = "";
  }
  return [...parts, `${plain}}`].map((part) => (typeof part === "string" ? Buffer.from(part) : part));
}

/**
 * What was made of an object once is made of it again without effort, for as long as the object lives. For objects that never change: messages of a
 * conversation and schemas of tools come back call after call, and a long conversation would be turned into a request anew with every turn.
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

const text = remembered((value: object): string => JSON.stringify(value));

/** A list that grows from call to call: what it began with, as text. By its second item: the first may be a prompt, which is a new object each time. */
const beginnings = new WeakMap<object, { readonly items: readonly object[]; readonly text: string }>();

function listText(list: readonly object[]): string {
  const [first, second] = list;
  if (!first || !second) return `[${list.map(text).join(",")}]`;
  const rest = list.slice(1);
  const known = beginnings.get(second);
  const begun = known && beginsWith(rest, known.items) ? known : { items: [], text: "" };
  // The last thing somebody said will come back as another object: what stands before it comes back as it is.
  const lasting = Math.max(
    begun.items.length,
    rest.findLastIndex((item) => (item as { readonly role?: unknown }).role === "user"),
  );
  const more = rest.slice(begun.items.length, lasting).map((item) => `,${text(item)}`);
  const lastingText = more.length === 0 ? begun.text : begun.text + more.join("");
  if (lasting > begun.items.length) beginnings.set(second, { items: rest.slice(0, lasting), text: lastingText });
  const tail = rest.slice(lasting).map((item) => `,${text(item)}`);
  return `[${text(first)}${lastingText}${tail.join("")}]`;
}

/** An object as JSON; lists whose items come back are put together from what is known of these. */
export function bodyText(body: Readonly<Record<string, unknown>>, lists: readonly string[]): string {
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const known = lists.includes(name) && Array.isArray(value) ? listText(value as readonly object[]) : JSON.stringify(value);
    return known === undefined ? [] : [`${JSON.stringify(name)}:${known}`];
  });
  return `{${fields.join(",")}}`;
}

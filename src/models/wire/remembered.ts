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

const text = remembered((value: object): string => JSON.stringify(value));

/** An object as JSON; lists whose items come back are put together from what is known of these. */
export function bodyText(body: Readonly<Record<string, unknown>>, lists: readonly string[]): string {
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const known = lists.includes(name) && Array.isArray(value) ? `[${(value as readonly object[]).map(text).join(",")}]` : JSON.stringify(value);
    return known === undefined ? [] : [`${JSON.stringify(name)}:${known}`];
  });
  return `{${fields.join(",")}}`;
}

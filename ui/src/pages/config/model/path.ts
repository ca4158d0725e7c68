/** Keys and indexes from the top of the configuration to a value. */
export type ValuePath = readonly (string | number)[];

/** How the gateway and the command line read a path: `a[0].b\.c`. */
export function formatPath(path: ValuePath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (part === "") text += '[""]';
    else text += `${text === "" ? "" : "."}${part.replaceAll(/[\\.[\]]/g, "\\$&")}`;
  }
  return text;
}

/** How messages name a path: `a.0.b`. */
export const dottedPath = (path: ValuePath): string => path.join(".");

export const isFields = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value);

/** What stands at a path; undefined when nothing does. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  let at = value;
  for (const part of path) {
    if (Array.isArray(at)) at = at[Number(part)];
    else if (isFields(at) && Object.hasOwn(at, part)) at = at[String(part)];
    else return undefined;
  }
  return at;
}

/** A copy with another value at the path; what is missing on the way is made. */
export function withValue(value: unknown, path: ValuePath, next: unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return next;
  if (typeof part === "number") {
    const items = Array.isArray(value) ? [...(value as unknown[])] : [];
    items[part] = withValue(items[part], rest, next);
    return items;
  }
  const fields = isFields(value) ? value : {};
  return { ...fields, [part]: withValue(valueAt(fields, [part]), rest, next) };
}

/** A copy without what stands at the path. */
export function withoutValue(value: unknown, path: ValuePath): unknown {
  const [part, ...rest] = path;
  if (part === undefined || valueAt(value, [part]) === undefined) return value;
  if (rest.length > 0) return withValue(value, [part], withoutValue(valueAt(value, [part]), rest));
  if (Array.isArray(value)) return value.filter((_, at) => at !== Number(part));
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => name !== part));
}

/** True when a message's path names this one or lies below it. */
export function isWithin(dotted: string, path: ValuePath): boolean {
  const above = dottedPath(path);
  return above === "" || dotted === above || dotted.startsWith(`${above}.`);
}

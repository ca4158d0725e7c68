/**
 * How a value is passed to code that may change it: `none` unchanged (instances, buffers, dates, signals), `flat` as a copy, since it is small and
 * contains no objects, the others as a copy on access, `bare` of a record without a prototype.
 */
export type Isolation = "none" | "flatRecord" | "flatList" | "record" | "list" | "bare";

/** Up to this many values are copied eagerly: that costs less than a view. */
const FLAT = 8;

export function isolationOf(value: object): Isolation {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return isFlatRecord(value) ? "flatRecord" : "record";
  if (prototype === Array.prototype && Array.isArray(value)) return isFlatList(value) ? "flatList" : "list";
  return prototype === null && !Array.isArray(value) ? "bare" : "none";
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
const isFlatList = (list: readonly unknown[]): boolean => list.length <= FLAT && !list.some(isObject);

function isFlatRecord(value: object): boolean {
  const record = value as Fields;
  let count = 0;
  for (const key in record) if (++count > FLAT || key === "__proto__" || isObject(record[key])) return false;
  return true;
}

/** `value` must be what {@link isolationOf} returned for it. */
export function isolateAs(isolation: Isolation, value: object): object {
  const fields = value as Fields;
  switch (isolation) {
    case "record":
      return new Proxy<Fields>({}, new View(fields));
    case "flatRecord":
      return copyOf(value);
    case "list":
      return new Proxy([] as unknown as Fields, new View(fields));
    case "flatList":
      return Array.isArray(value) ? value.slice() : value;
    case "bare":
      return new Proxy<Fields>(Object.create(null), new View(fields));
    default:
      return value;
  }
}

/** A shallow copy. Unlike a spread, it costs the same however many shapes it has seen; a key named `__proto__` would be lost. */
export function copyOf<T extends object>(record: T): T {
  return Object.assign({}, record);
}

/** A value that its holder may change without affecting others. The cost does not depend on its size. */
export function isolate<T>(value: T): T {
  return typeof value === "object" && value !== null ? (isolateAs(isolationOf(value), value) as T) : value;
}

/** Read from any object: a view returns itself, everything else nothing. */
const VIEW = Symbol("hook view");

type Fields = Record<PropertyKey, unknown>;

/** A view's own level of the data, once it was written to. */
interface Copy {
  readonly target: Fields;
  /** In a list: 1 for elements that still are the source's. */
  readonly pending: Uint8Array | undefined;
}

/**
 * A copy-on-access view of plain data: reads go through to the source, mutable values that are read are isolated in turn,
 * and the first write copies this one level. The proxy's target is the copy, empty until then.
 */
class View implements ProxyHandler<Fields> {
  readonly source: Fields;
  /** Values handed out before the first write, by key. */
  private children: Map<PropertyKey, unknown> | undefined = undefined;
  private copy: Copy | undefined = undefined;

  constructor(source: Fields) {
    this.source = source;
  }

  get(target: Fields, key: PropertyKey, receiver: unknown): unknown {
    if (key === VIEW) return this;
    if (this.copy) {
      settle(this.copy, key);
      return Reflect.get(target, key, receiver);
    }
    const value = this.source[key];
    if (typeof value !== "object" || value === null || !Object.hasOwn(this.source, key)) return value;
    const known = this.children?.get(key);
    if (known !== undefined) return known;
    const own = isolate(value);
    if (own !== value) (this.children ??= new Map()).set(key, own);
    return own;
  }

  has(target: Fields, key: PropertyKey): boolean {
    return Reflect.has(this.copy ? target : this.source, key);
  }

  ownKeys(target: Fields): (string | symbol)[] {
    return Reflect.ownKeys(this.copy ? target : this.source);
  }

  getOwnPropertyDescriptor(target: Fields, key: PropertyKey): PropertyDescriptor | undefined {
    if (this.copy) {
      settle(this.copy, key);
      return Reflect.getOwnPropertyDescriptor(target, key);
    }
    const found = Reflect.getOwnPropertyDescriptor(this.source, key);
    if (!found) return undefined;
    // A list's length is the one property that the target has from the start.
    const configurable = Reflect.getOwnPropertyDescriptor(target, key)?.configurable ?? true;
    return { value: this.get(target, key, target), writable: true, enumerable: found.enumerable === true, configurable };
  }

  defineProperty(target: Fields, key: PropertyKey, descriptor: PropertyDescriptor): boolean {
    settle(this.write(target), key);
    return Reflect.defineProperty(target, key, descriptor);
  }

  deleteProperty(target: Fields, key: PropertyKey): boolean {
    settle(this.write(target), key);
    return Reflect.deleteProperty(target, key);
  }

  preventExtensions(target: Fields): boolean {
    this.write(target);
    return Reflect.preventExtensions(target);
  }

  /** The data that this view stands for now, without views in it: the source's own where nothing was handed out. */
  plain(detach: (value: unknown) => unknown): unknown {
    const { copy, children } = this;
    if (!copy && !children) return this.source;
    const from = copy ? copy.target : this.source;
    const result: Fields = Array.isArray(from) ? ((from as unknown[]).slice() as unknown as Fields) : { ...from };
    if (!copy) for (const [key, child] of children ?? []) define(result, key, detach(child));
    else for (const key of Object.keys(result)) if (copy.pending?.[Number(key)] !== 1) define(result, key, detach(result[key]));
    return result;
  }

  private write(target: Fields): Copy {
    if (this.copy) return this.copy;
    const { source, children } = this;
    const pending = Array.isArray(source) ? new Uint8Array(source.length) : undefined;
    if (pending) target["length"] = pending.length;
    for (const key of Reflect.ownKeys(source)) {
      if (pending && key === "length") continue;
      const index = pending && typeof key === "string" ? Number(key) : -1;
      if (pending && index >= 0 && index < pending.length && !children?.has(key)) {
        target[index] = (source as unknown as unknown[])[index];
        pending[index] = 1;
        continue;
      }
      const enumerable = Object.prototype.propertyIsEnumerable.call(source, key);
      Object.defineProperty(target, key, { value: this.get(target, key, target), writable: true, enumerable, configurable: true });
    }
    return (this.copy = { target, pending });
  }
}

/** Copies the element under `key`, if it still is the source's. */
function settle({ target, pending }: Copy, key: PropertyKey): void {
  const index = pending && typeof key === "string" ? Number(key) : -1;
  if (pending?.[index] !== 1) return;
  pending[index] = 0;
  if (Object.hasOwn(target, index)) target[index] = isolate(target[index]);
}

/** Deeper than any sensible result; a cycle ends here, too. */
const MAX_DEPTH = 200;

/**
 * A handler's result as the host's own data: the handler cannot change it afterwards, and it contains no views. Throws when it is nested too
 * deep or cyclic.
 */
export function detach<T>(value: T): T {
  return detachAt(value, 0) as T;
}

function detachAt(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new RangeError(`it is nested more than ${MAX_DEPTH} levels deep or contains itself`);
  const deeper = (child: unknown): unknown => detachAt(child, depth + 1);
  const view = (value as { [VIEW]?: View })[VIEW];
  if (view) return view.plain(deeper);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype ? value.map(deeper) : value;
  if (prototype !== Object.prototype && prototype !== null) return value;
  const result: Fields = {};
  for (const [key, child] of Object.entries(value)) define(result, key, deeper(child));
  return result;
}

/** A key named `__proto__` stays a key. */
function define(record: Fields, key: PropertyKey, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  else record[key] = value;
}

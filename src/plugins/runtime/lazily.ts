/** Keys that can be listed, with values that are made when they are first read. They can be replaced, as plain ones can. */
export function lazily<T extends object>(makers: { readonly [K in keyof T]: () => T[K] }): T {
  const target = {} as T;
  for (const key of Object.keys(makers) as (keyof T & string)[]) {
    const settle = <V>(value: V): V => {
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
      return value;
    };
    Object.defineProperty(target, key, { enumerable: true, configurable: true, get: () => settle(makers[key]()), set: settle });
  }
  return target;
}

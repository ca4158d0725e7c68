/** Something that is made when it is first asked for, and only once. */
export interface Lazy<T> {
  (): Promise<T>;
  /** What was begun; undefined before the first call and after one that failed. */
  started(): Promise<T> | undefined;
}

/** A load that failed is not remembered: the next call tries again, so that one bad moment (no descriptors left) does not break everything after it. */
export function lazy<T>(load: () => Promise<T>): Lazy<T> {
  let loading: Promise<T> | undefined;
  const get = (): Promise<T> =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
  return Object.assign(get, { started: () => loading });
}

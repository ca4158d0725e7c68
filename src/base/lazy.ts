/** A value that is created on first use, and only once. */
export interface Lazy<T> {
  (): Promise<T>;
  /** The pending or finished value; undefined before the first call and after a failed one. */
  started(): Promise<T> | undefined;
}

/** A failed load is not cached: the next call tries again, so that one bad moment (no file descriptors left) does not break everything after it. */
export function lazy<T>(load: () => Promise<T>): Lazy<T> {
  let loading: Promise<T> | undefined;
  const get = (): Promise<T> =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
  return Object.assign(get, { started: () => loading });
}

/** Modules that are loaded when they are first needed. A load that failed is tried again. */
import { lazy } from "../../base/lazy.ts";

export function createLazyRuntimeModule<T>(load: () => Promise<T>): () => Promise<T> {
  return lazy(load);
}

export function createLazyRuntimeNamedExport<T, K extends keyof T>(load: () => Promise<T>, name: K): () => Promise<T[K]> {
  const module = createLazyRuntimeModule(load);
  return async () => (await module())[name];
}

/** A function of a module that is loaded at its first call. */
export function createLazyRuntimeMethod<T, Args extends unknown[], Result>(
  load: () => Promise<T>,
  pick: (module: T) => (...args: Args) => Result | Promise<Result>,
): (...args: Args) => Promise<Result> {
  const module = createLazyRuntimeModule(load);
  return async (...args) => {
    const method = pick(await module());
    return method(...args);
  };
}

import { createRequire } from "node:module";
import type * as Grammy from "grammy/web";

export type Library = Pick<typeof Grammy, "Api" | "GrammyError" | "HttpError" | "InputFile">;

/**
 * grammY in its portable build, which takes 3 MB where the build for Node, with an HTTP client of its own, takes 21. It looks once whether there is a
 * `localStorage`, and Node prints a warning at that: for that moment there is none.
 */
export function loadLibrary(): Library {
  const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  if (before?.configurable !== true) return createRequire(import.meta.url)("grammy/web") as Library;
  Object.defineProperty(globalThis, "localStorage", { value: undefined, configurable: true, writable: true });
  try {
    return createRequire(import.meta.url)("grammy/web") as Library;
  } finally {
    Object.defineProperty(globalThis, "localStorage", before);
  }
}

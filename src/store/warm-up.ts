import { startThread } from "./sqlite/thread.ts";

/** The store's thread on its way: it has nothing open yet. Whoever does not pass it to `openStore` ends it with `terminate()`. */
export type StoreThread = ReturnType<typeof startThread>;

/** Starts the store's thread ahead of `openStore`: it gets ready on another core while the caller still finds out what to open. */
export function warmUpStore(): StoreThread {
  return startThread();
}

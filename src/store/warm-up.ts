import { startThread } from "./sqlite/thread.ts";

/** A started store thread that has nothing open yet. Pass it to `openStore`, or end it with `terminate()`. */
export type StoreThread = ReturnType<typeof startThread>;

/** Starts the store's thread ahead of `openStore`: it gets ready on another core while the caller still resolves its options. */
export function warmUpStore(): StoreThread {
  return startThread();
}

import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import type * as Versions from "./review/versions.ts";
import type { Snapshot } from "./snapshot.ts";

/** Keeps every text that the configuration file had. What comes before the gateway is ready is kept when it is: keeping costs a sync of the disk. */
export interface VersionKeeper {
  /** The file has this text now. */
  keep(snapshot: Pick<Snapshot, "raw" | "source">): void;
  /** Gives what keeps a text that is about to be replaced, before it is. */
  keeper(): Promise<(text: string) => void>;
  /** The gateway is ready. */
  settle(snapshot: Pick<Snapshot, "raw" | "source">): void;
}

export interface VersionKeeperDeps {
  readonly purpose: "start" | "inspect";
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly warn?: ((message: string) => void) | undefined;
}

export function createVersionKeeper(place: Versions.VersionPlace, deps: VersionKeeperDeps): VersionKeeper {
  let waiting: string[] = [];
  let settled = deps.purpose === "inspect";
  let last: string | undefined;
  let queue: Promise<void> = Promise.resolve();

  function store({ keepVersion }: typeof Versions, text: string): void {
    if (text === last) return;
    try {
      keepVersion(place, text, { now: deps.clock.now(), ids: deps.ids });
      last = text;
    } catch (error) {
      // A version that cannot be kept is no reason to refuse the change.
      deps.warn?.(`a version of the configuration could not be saved: ${messageOf(error)}`);
    }
  }
  function add(text: string): void {
    waiting.push(text);
    if (settled) flush();
  }
  function flush(): void {
    queue = queue.then(async () => {
      const module = await import("./review/versions.ts");
      const texts = waiting;
      waiting = [];
      for (const text of texts) store(module, text);
    });
  }
  const keep: VersionKeeper["keep"] = ({ raw, source }) => {
    if (raw !== null && source === "file") add(raw);
  };
  return {
    keep,
    async keeper() {
      if (!settled) return (text) => void waiting.push(text);
      const module = await import("./review/versions.ts");
      return (text) => store(module, text);
    },
    settle(snapshot) {
      settled = true;
      keep(snapshot);
    },
  };
}

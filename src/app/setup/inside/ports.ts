import { lazy } from "../../../base/lazy.ts";
import type { SetupPort } from "../../../gateway/index.ts";
import type { Store } from "../../../store/index.ts";
import type { QuickDeps } from "./quick.ts";

export interface SetupPortDeps extends Omit<QuickDeps, "sessions"> {
  readonly store: Pick<Store, "read">;
}

/** The first steps as methods of this gateway. Their code is loaded when somebody takes one. */
export function setupPort({ store, ...deps }: SetupPortDeps): SetupPort {
  const sessions = async (): Promise<number> => (await store.read("sessions.list", { limit: 1 })).total;
  const open = lazy(async () => (await import("./open.ts")).openSetup({ ...deps, sessions }));
  return {
    status: async () => (await open()).status(),
    key: async (given) => (await open()).key(given),
    local: async (given) => (await open()).local(given),
    channel: async (given) => (await open()).channel(given),
    wizard: {
      start: async (asked) => (await open()).wizard.start(asked),
      next: async (asked) => (await open()).wizard.next(asked),
      cancel: async (asked) => (await open()).wizard.cancel(asked),
      status: async (asked) => (await open()).wizard.status(asked),
    },
  };
}

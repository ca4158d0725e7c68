/** The code of the hooks that are part of this program. */
import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { Config } from "../../../config/index.ts";
import type { Responder } from "../../../conversation/index.ts";
import type { InternalHookHandler } from "../../../hooks/index.ts";
import type { LazyModels } from "../../../models/index.ts";
import type { Store } from "../../../store/index.ts";
import { bootMd } from "./boot-md.ts";
import { bootstrapExtraFiles } from "./bootstrap-extra-files.ts";
import { commandLogger } from "./command-logger.ts";
import { sessionMemory } from "./session-memory.ts";

export interface BundledDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly stateDir: string;
  readonly workspaceOf: (agentId: string) => string;
  readonly models: LazyModels;
  readonly runs: Pick<Responder, "accept" | "outcome">;
  /** Fires when the gateway stops. */
  readonly signal: AbortSignal;
}

const HANDLERS: Readonly<Record<string, (deps: BundledDeps) => InternalHookHandler | Promise<InternalHookHandler>>> = {
  "boot-md": bootMd,
  "bootstrap-extra-files": bootstrapExtraFiles,
  "command-logger": commandLogger,
  "session-memory": sessionMemory,
};

export async function bundledHandler(name: string, deps: BundledDeps): Promise<InternalHookHandler> {
  const create = HANDLERS[name];
  if (!create) throw new AppError("NOT_FOUND", `there is no bundled hook ${JSON.stringify(name)}`);
  return create(deps);
}

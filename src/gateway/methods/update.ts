import { AppError } from "../../base/errors.ts";
import type { Config } from "../../config/index.ts";
import { requireRestarts, type RestartReport, type RestartRequest } from "./deps.ts";
import { unavailable, type HandlersOf } from "./handler.ts";
import type { ProgramDeps } from "./update/status.ts";

export interface UpdateDeps extends ProgramDeps {
  readonly config: Pick<Config, "current">;
  readonly requestRestart: (request: RestartRequest, options?: { readonly urgent?: boolean }) => RestartReport;
}

const RESTART_DELAY_MS = 500;

/** The program that runs, and newer ones. */
export function updateHandlers(deps: UpdateDeps): HandlersOf<"update"> {
  return {
    // Updates are made the way the program was installed.
    ...unavailable("update.run"),
    "update.status": async () => (await import("./update/status.ts")).readStatus(deps, null),
    "update.check": async () => (await import("./update/status.ts")).checkForUpdates(deps),
    "update.restart": () => {
      requireRestarts(deps.config.current);
      const { ok, delayMs, reason } = deps.requestRestart({ reason: "update.restart", delayMs: RESTART_DELAY_MS }, { urgent: true });
      if (!ok) throw new AppError("UNAVAILABLE", `the gateway cannot restart: ${reason}`);
      return { ok: true, delayMs };
    },
  };
}

import { stateLockPath } from "../../../config/index.ts";
import { basename } from "node:path";
import { type App, type AppOptions } from "../../../app/index.ts";
import { messageOf } from "../../../base/errors.ts";
import { findRestoreRequest, loadBackup, type AppliedRestore } from "../../../store/index.ts";

type Create = (options: AppOptions) => Promise<App>;

/** Opens the gateway again, on the state that was restored for it meanwhile, if one was. When that does not work, the old state is put back. */
export async function openAgain({ stateDir, log }: Pick<App, "stateDir" | "log">, options: AppOptions, create: Create): Promise<App> {
  if (!findRestoreRequest(stateDir, options.pid, Date.now())) return create(options);
  let applied: AppliedRestore | undefined;
  try {
    const { applyRestoreRequest } = await loadBackup();
    applied = applyRestoreRequest(stateDir, options.pid, Date.now(), [basename(stateLockPath(stateDir))]);
  } catch (error) {
    log.error(`the backup could not be restored; the gateway keeps its previous state: ${messageOf(error)}`);
    return create(options);
  }
  try {
    const app = await create(options);
    applied?.settle();
    app.log.info(`restored from a backup; the previous state is in ${applied?.report.kept ?? "no folder, because there was none"}`);
    return app;
  } catch (error) {
    if (!applied) throw error;
    const failed = applied.undo(messageOf(error));
    const app = await create(options);
    app.log.error(`the restored state could not be opened, so the previous state is in use again; the restored files are in ${failed}: ${messageOf(error)}`);
    return app;
  }
}

import { AppError } from "../../base/errors.ts";
import type { MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

type Audit = MethodResult<"security.audit">;

/** The audit of this installation. Its code is loaded with the first request. */
export interface SecurityPort {
  audit(options: { readonly deep: boolean; readonly progress: (done: number, total: number, name: string) => void }): Promise<Audit>;
  fix(id: string): Promise<Audit["fixes"][number]>;
}

/** One audit at a time: it reads many files. */
export function securityHandlers(security: SecurityPort): HandlersOf<"security"> {
  let running: MethodResult<"security.progress">["running"] = null;
  return {
    "security.audit": async ({ deep = false }) => {
      if (running) throw new AppError("CONFLICT", "an audit is running; wait for it to finish", { details: { deep: running.deep } });
      running = { done: 0, total: 0, name: "", deep };
      try {
        return await security.audit({ deep, progress: (done, total, name) => (running = { done, total, name, deep }) });
      } finally {
        running = null;
      }
    },
    "security.progress": () => ({ running }),
    "security.fix": async ({ id }) => ({ ok: true, fix: await security.fix(id) }),
  };
}

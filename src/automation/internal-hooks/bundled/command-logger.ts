import { appendFile, mkdir, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { InternalHookHandler } from "../../../hooks/index.ts";
import type { BundledDeps } from "./index.ts";

/** A longer file is put aside as `commands.log.1`. */
const MOST_BYTES = 10 * 1024 * 1024;

const textOr = (value: unknown, absent: string): string => (typeof value === "string" && value !== "" ? value : absent);

/** Appends one line of JSON for each command to `logs/commands.log`. */
export function commandLogger({ stateDir }: Pick<BundledDeps, "stateDir">): InternalHookHandler {
  const path = join(stateDir, "logs", "commands.log");
  return async ({ timestamp, action, sessionKey, context }) => {
    const line = {
      timestamp: timestamp.toISOString(),
      action,
      sessionKey,
      senderId: textOr(context["senderId"], "unknown"),
      source: textOr(context["commandSource"], "unknown"),
    };
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const bytes = await stat(path).then(
      ({ size }) => size,
      () => 0,
    );
    if (bytes > MOST_BYTES) await rename(path, `${path}.1`);
    await appendFile(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  };
}

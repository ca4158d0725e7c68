import { logFileAt } from "../base/log/log-file.ts";
import { loadFor } from "./config-source.ts";
import type { Io } from "./io.ts";

/** The file the gateway logs to now. An invalid configuration is read as an empty one: its log is what is needed most. */
export function currentLogFile(io: Io): Promise<string> {
  const { snapshot, paths } = loadFor(io);
  return Promise.resolve(logFileAt({ configured: snapshot.config.logging?.file, stateDir: paths.state })(io.now()));
}

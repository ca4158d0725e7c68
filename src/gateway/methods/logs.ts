import { readLog } from "../../base/log/read-log.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

export interface LogsDeps {
  /** The file that is written to now. */
  readonly logFile: () => string;
}

const LIMIT = 500;
const MAX_BYTES = 250_000;

function tail({ cursor, limit = LIMIT, maxBytes = MAX_BYTES }: MethodParams<"logs.tail">, file: string): MethodResult<"logs.tail"> {
  const chunk = readLog(file, { maxBytes, ...(cursor === undefined ? {} : { cursor }) });
  if (!chunk) return { file, cursor: 0, size: 0, lines: [], ...(cursor === undefined || cursor === 0 ? {} : { reset: true }) };
  const lines = chunk.lines.slice(-limit);
  const truncated = chunk.truncated || lines.length < chunk.lines.length;
  return { file, cursor: chunk.cursor, size: chunk.size, lines, ...(truncated ? { truncated } : {}), ...(chunk.rotated ? { reset: true } : {}) };
}

/** The log, for clients that follow it. */
export function logsHandlers({ logFile }: LogsDeps): HandlersOf<"logs"> {
  return { "logs.tail": (params) => tail(params, logFile()) };
}

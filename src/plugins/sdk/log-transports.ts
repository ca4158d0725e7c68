/** Where log records go besides the host's own log. Process-wide by contract, like the bus of diagnostic events. */
import { sdkHost } from "./host-binding.ts";

export type LogTransportRecord = Record<string, unknown>;
export type LogTransport = (record: LogTransportRecord) => void;

const transports = new Set<LogTransport>();

/** Gives every log record to `transport` until the returned function is called, or the plugin that called is taken down. */
export function registerLogTransport(transport: LogTransport): () => void {
  const entry: LogTransport = (record) => transport(record);
  transports.add(entry);
  const end = (): void => void transports.delete(entry);
  sdkHost()?.adopt?.(end);
  return end;
}

/** For the host: whether anybody listens, so that no record is made for nobody. */
export const hasLogTransports = (): boolean => transports.size > 0;

/** For the host: hands a record to the transports. One that throws harms nobody. */
export function publishLogRecord(record: LogTransportRecord): void {
  for (const transport of transports) {
    try {
      transport(record);
    } catch {
      // A transport that fails must not keep a line out of the log.
    }
  }
}

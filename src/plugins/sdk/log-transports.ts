/** Where log records go besides the host's own log. Process-wide by contract, like the bus of diagnostic events. */

export type LogTransportRecord = Record<string, unknown>;
export type LogTransport = (record: LogTransportRecord) => void;

const transports = new Set<LogTransport>();

/** Gives every log record to `transport` until the returned function is called. */
export function registerLogTransport(transport: LogTransport): () => void {
  const entry: LogTransport = (record) => transport(record);
  transports.add(entry);
  return () => void transports.delete(entry);
}

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

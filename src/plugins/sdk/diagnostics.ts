/**
 * What plugins can observe of the host: diagnostic events and log records. The bus of diagnostic events is process-wide by contract: plugins and host
 * meet there without knowing each other. A listener that throws harms nobody.
 */
import { systemClock } from "../../base/clock.ts";
import type { DiagnosticEventInput, DiagnosticEventPayload, HostConfig } from "../../protocol/index.ts";
import { sdkHost, sdkState } from "./host-binding.ts";

type Listener = (event: DiagnosticEventPayload) => void;

const bus = { seq: 0, listeners: new Set<Listener>() };

export function isDiagnosticsEnabled(config?: HostConfig): boolean {
  return config?.diagnostics?.enabled === true;
}

/** Notifies every listener, in the order in which they came. Free while there is none. */
export function emitDiagnosticEvent(event: DiagnosticEventInput): void {
  bus.seq += 1;
  if (bus.listeners.size === 0) return;
  const stamped: DiagnosticEventPayload = { ...event, seq: bus.seq, ts: systemClock.now() };
  for (const listener of bus.listeners) {
    try {
      listener(stamped);
    } catch {
      // The work that is reported goes on.
    }
  }
}

/** Listens until the returned function is called, or the plugin that called is taken down. */
export function onDiagnosticEvent(listener: Listener): () => void {
  // Its own function, so that the same listener may be there twice.
  const entry: Listener = (event) => listener(event);
  bus.listeners.add(entry);
  const end = (): void => void bus.listeners.delete(entry);
  sdkHost()?.adopt?.(end);
  return end;
}

export type LogTransportRecord = Record<string, unknown>;
export type LogTransport = (record: LogTransportRecord) => void;

/** Gives every log record to `transport` until the returned function is called, or the plugin that called is taken down. */
export function registerLogTransport(transport: LogTransport): () => void {
  const entry: LogTransport = (record) => transport(record);
  const { logTransports } = sdkState();
  logTransports.add(entry);
  const end = (): void => void logTransports.delete(entry);
  sdkHost()?.adopt?.(end);
  return end;
}

/** For the host: whether anybody listens, so that no record is made for nobody. */
export const hasLogTransports = (): boolean => sdkState().logTransports.size > 0;

/** For the host: hands a record to the transports. One that throws harms nobody. */
export function publishLogRecord(record: LogTransportRecord): void {
  for (const transport of sdkState().logTransports) {
    try {
      transport(record);
    } catch {
      // A transport that fails must not keep a line out of the log.
    }
  }
}

/**
 * The bus of diagnostic events. It is process-wide by contract: plugins and host meet here without knowing each other. A listener that
 * throws harms nobody.
 */
import { systemClock } from "../../base/clock.ts";
import type { DiagnosticEventInput, DiagnosticEventPayload, HostConfig } from "../../protocol/index.ts";
import { sdkHost } from "./host-binding.ts";

type Listener = (event: DiagnosticEventPayload) => void;

const bus = { seq: 0, listeners: new Set<Listener>() };

export function isDiagnosticsEnabled(config?: HostConfig): boolean {
  return config?.diagnostics?.enabled === true;
}

/** Tells every listener, in the order in which they came. Free while there is none. */
export function emitDiagnosticEvent(event: DiagnosticEventInput): void {
  bus.seq += 1;
  if (bus.listeners.size === 0) return;
  const stamped: DiagnosticEventPayload = { ...event, seq: bus.seq, ts: systemClock.now() };
  for (const listener of bus.listeners) {
    try {
      listener(stamped);
    } catch {
      // The bus has no one to tell, and the work that is reported goes on.
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

/**
 * The one place where SDK functions that published plugins call without an argument for the host find it. The host binds itself before it
 * loads a plugin, and brings the state that SDK functions hold between calls.
 */
import { AppError } from "../../base/errors.ts";
import type { OpenClawPluginHttpRouteHandler } from "../../protocol/index.ts";
import type { DevicePairingPort } from "./access/device-pairing.ts";
import type { RecordInboundSessionParams } from "./types/runtime-channel.ts";

export interface SdkLogRecord {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
  readonly subsystem: string;
  readonly message: string;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** What SDK functions hold between calls, for as long as a host is bound. */
export interface SdkState {
  /** Receive every log record. */
  readonly logTransports: Set<(record: Record<string, unknown>) => void>;
  /** What was warned about once and is not again. */
  readonly warned: Set<string>;
  /** HTTP routes by path, of each map of webhook targets that a plugin has. */
  readonly webhookRoutes: WeakMap<object, Map<string, () => void>>;
}

export function createSdkState(): SdkState {
  return { logTransports: new Set(), warned: new Set(), webhookRoutes: new WeakMap() };
}

export interface SdkHost {
  readonly state?: SdkState | undefined;
  /** The process environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where state lives. */
  readonly stateDir: string;
  readonly verbose?: (() => boolean) | undefined;
  /** Rejects when a file may not leave this machine, whichever folder it is asked from. */
  readonly mediaReadable?: ((path: string) => Promise<void>) | undefined;
  readonly log?: ((record: SdkLogRecord) => void) | undefined;
  readonly registerHttpRoute?:
    | ((route: { path: string; handler: OpenClawPluginHttpRouteHandler; pluginId?: string | undefined; source?: string | undefined }) => () => void)
    | undefined;
  /** Takes care that `end` is called when the plugin that runs now is taken down. */
  readonly adopt?: ((end: () => void) => void) | undefined;
  readonly devicePairing?: DevicePairingPort | undefined;
  readonly recordInboundSession?: ((params: RecordInboundSessionParams) => Promise<void>) | undefined;
}

/** `alone` is the state where the SDK is used by itself. */
const bound: { host: SdkHost | undefined; readonly alone: SdkState } = { host: undefined, alone: createSdkState() };

/** Makes `host` the one that SDK functions find, until it is disposed of. */
export function bindSdkHost(host: SdkHost): Disposable {
  const before = bound.host;
  bound.host = host;
  return {
    [Symbol.dispose]() {
      if (bound.host === host) bound.host = before;
    },
  };
}

/** The host, or nothing where the SDK is used by itself. */
export function sdkHost(): SdkHost | undefined {
  return bound.host;
}

export const sdkState = (): SdkState => bound.host?.state ?? bound.alone;

/** A part of the host that `what` cannot do without. */
export function requireHost<K extends keyof SdkHost>(what: string, part: K): NonNullable<SdkHost[K]> {
  const found = bound.host?.[part];
  if (found === undefined) {
    throw new AppError(
      "UNAVAILABLE",
      `${what} needs a running gateway that offers ${part}, and there is none here; call it from a service, a hook or a handler`,
    );
  }
  return found;
}

/** A variable of the environment, trimmed; nothing where it is empty. */
export function envValue(name: string): string | undefined {
  return bound.host?.env[name]?.trim() || undefined;
}

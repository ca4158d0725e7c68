import { AppError } from "../../base/errors.ts";
import type { LogRecord, LogSink } from "../../base/log/logger.ts";
import { bindSdkHost, createSdkState } from "../sdk/host-binding.ts";
import { hasLogTransports, publishLogRecord } from "../sdk/diagnostics.ts";
import { type DevicePairingPort } from "../sdk/access/device-pairing.ts";
import { type PluginHost } from "../host/host.ts";
import { type RuntimeChannelSession } from "../sdk/types/index.ts";
import { SCOPES } from "../../protocol/index.ts";
import type { PluginsDeps } from "./create-plugins.ts";

export interface SdkBindingDeps extends Pick<PluginsDeps, "config" | "log" | "pairing" | "tapLog" | "talk"> {
  readonly host: Pick<PluginHost, "registerRoute" | "adopt">;
  readonly recordInboundSession: RuntimeChannelSession["recordInboundSession"];
}

type Listed = Awaited<ReturnType<DevicePairingPort["list"]>>;
type Paired = Awaited<ReturnType<NonNullable<PluginsDeps["pairing"]>["list"]>>["paired"][number];

/** Lets SDK functions that plugins call without the API object find this gateway, and log transports its log, until it is disposed of. */
export function bindSdk({ config, log, pairing, tapLog, talk, host, recordInboundSession }: SdkBindingDeps): Disposable {
  using stack = new DisposableStack();
  stack.use(
    bindSdkHost({
      state: createSdkState(),
      get env() {
        return config.env();
      },
      stateDir: config.paths.state,
      verbose: () => ["debug", "trace"].includes(config.current.logging?.level ?? "info"),
      mediaReadable: async (path) => talk?.()?.mediaReadable?.(undefined, path),
      log: ({ level, subsystem, message, meta }) => log[level](`${subsystem}: ${message}`, meta),
      registerHttpRoute: host.registerRoute,
      adopt: host.adopt,
      recordInboundSession,
      ...(pairing ? { devicePairing: pairingPort(pairing) } : {}),
    }),
  );
  if (tapLog) stack.use(tapLog(transportSink()));
  return stack.move();
}

/** Lines for log transports. What a transport logs itself is not shown to transports: they would never end. */
function transportSink(): LogSink {
  let busy = false;
  return {
    write(record) {
      if (busy || !hasLogTransports()) return;
      busy = true;
      try {
        publishLogRecord(transportRecord(record));
      } finally {
        busy = false;
      }
    },
    flush: async () => {},
  };
}

/** The form that transports of published plugins read: numbered arguments, the first names the subsystem, the last is the text. */
function transportRecord({ time, level, subsystem, message, fields }: LogRecord): Record<string, unknown> {
  const parts = [JSON.stringify({ subsystem }), ...(Object.keys(fields).length > 0 ? [fields] : []), message];
  return { ...Object.fromEntries(parts.entries()), _meta: { logLevelName: level.toUpperCase(), date: new Date(time), name: subsystem } };
}

/** Devices as plugins decide about them: with everything the gateway may give, since plugins run with its authority. */
function pairingPort(pairing: NonNullable<PluginsDeps["pairing"]>): DevicePairingPort {
  return {
    async list() {
      const { pending, paired } = await pairing.list();
      return { pending: pending.map((request) => structuredClone(request) as Listed["pending"][number]), paired: paired.map(shownDevice) };
    },
    approve: (requestId) =>
      orNull(async () => {
        const { device } = await pairing.approve(requestId, { scopes: SCOPES });
        return { requestId, device: shownDevice(device) };
      }),
    reject: (requestId) => orNull(() => pairing.reject(requestId)),
  };
}

/** Without what is known about its tokens. */
function shownDevice(paired: Paired): Listed["paired"][number] {
  const { roles = [], scopes = [] } = paired;
  const device = { ...paired, roles: [...roles], scopes: [...scopes] };
  delete device.tokens;
  return device;
}

/** `null` where nobody asked with that id. */
async function orNull<T>(decide: () => Promise<T>): Promise<T | null> {
  try {
    return await decide();
  } catch (error) {
    if (error instanceof AppError && error.message === "unknown requestId") return null;
    throw error;
  }
}

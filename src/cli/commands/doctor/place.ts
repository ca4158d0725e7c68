/** A command's process as the doctor sees it. */
import { homedir, tmpdir, userInfo } from "node:os";
import { basename, join } from "node:path";
import type { AccountTrouble, DoctorDeps, FailedPlugin } from "../../../doctor/index.ts";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import { tryGateway } from "../../gateway-call.ts";
import { probeGateway } from "../../gateway-probe.ts";
import { localTarget, openForReading } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";
import { serviceFacts } from "./service.ts";

/** Beside the bundle that this is a chunk of; in a checkout, where the build puts it. */
function uiFolder(): string {
  const here = import.meta.dirname;
  return basename(here) === "chunks" ? join(here, "..", "ui") : join(here, "..", "..", "..", "..", "dist", "ui");
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A process id without an entry has no name.
    return "";
  }
}

/** Asked once; later calls share the answer. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}

async function accountTroubles(io: Io, config: DoctorDeps["config"], timeoutMs: number): Promise<readonly AccountTrouble[]> {
  const { value } = await tryGateway(io, await localTarget(io, config), timeoutMs, (client) => client.request("channels.status", { timeoutMs }));
  return Object.entries(value?.channelAccounts ?? {}).flatMap(([channel, accounts]) =>
    accounts.flatMap(({ accountId, enabled, configured, connected, lastError }) =>
      enabled !== false && configured !== false && connected !== true && lastError ? [{ channel, accountId, text: lastError }] : [],
    ),
  );
}

async function failedPlugins(io: Io, config: DoctorDeps["config"], timeoutMs: number): Promise<readonly FailedPlugin[]> {
  const { value } = await tryGateway(io, await localTarget(io, config), timeoutMs, (client) => client.request("plugins.list", {}));
  return (value?.plugins ?? []).flatMap(({ id, status, error }) => (status === "error" ? [{ id, error: error ?? "no reason was given" }] : []));
}

export interface DoctorFlags {
  readonly deep: boolean;
  readonly generateToken: boolean;
  readonly suggestions: boolean;
}

/** Opens the configuration, be it broken or not there. Close it when all is looked at. */
export async function openDoctor(io: Io, flags: DoctorFlags): Promise<DoctorDeps & Disposable> {
  const config = await openForReading(io);
  let probed: ReturnType<DoctorDeps["probe"]> | undefined;
  return {
    config,
    env: io.env,
    cwd: io.cwd,
    osHome: homedir(),
    version: io.version,
    platform: process.platform,
    nodeVersion: process.versions.node,
    uid: process.getuid?.(),
    userName: userName(),
    temporary: tmpdir(),
    clock: systemClock,
    ids: createIds(systemRandom),
    ...flags,
    uiFolder: uiFolder(),
    inventory: once(async () => (await (await import("../../plugin-source.ts")).loadPlugins(io)).inventory),
    models: once(async () => (await import("./models.ts")).modelFacts(io)),
    service: () => serviceFacts(io),
    probe: (timeoutMs) => (probed ??= probeGateway(config.paths.state, timeoutMs)),
    accounts: (timeoutMs) => accountTroubles(io, config, timeoutMs),
    failedPlugins: (timeoutMs) => failedPlugins(io, config, timeoutMs),
    [Symbol.dispose]: () => config[Symbol.dispose](),
  };
}

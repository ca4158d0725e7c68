import type { ModelFacts, ServiceFacts, AccountTrouble, DoctorDeps, FailedPlugin } from "../../../doctor/index.ts";
import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { Io } from "../../io.ts";
import { chmodSync, readFileSync } from "node:fs";
import { dirname, basename, join } from "node:path";
import { writeAtomic } from "../../../base/files.ts";
import type { ServiceDefinition } from "../gateway/service/definition.ts";
import { control, findService, isInstalled } from "../gateway/service/service.ts";
import { homedir, tmpdir, userInfo } from "node:os";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import { tryGateway } from "../../gateway-call.ts";
import { probeGateway } from "../../gateway-probe.ts";
import { localTarget, openForReading } from "../../gateway-target.ts";

/** What the doctor checks about models, from the same source as `openclaw models status`. */
async function modelFacts(io: Io): Promise<ModelFacts> {
  const [{ namedModel, openModels }, { statusOf }] = await Promise.all([import("../models/source.ts"), import("../models/status.ts")]);
  const view = await openModels(io);
  const { choice, config, selection, hasCredential } = view;
  const { resolvedDefault, reason, warnings, auth } = await statusOf(view, io.now());
  return {
    model: resolvedDefault,
    source: reason.source,
    reason: reason.text,
    warnings,
    missing: auth.missingProvidersInUse,
    resting: auth.unusableProfiles.map(({ profileId, kind, reason: why, remainingMs }) => ({
      profileId,
      kind,
      why,
      ...(remainingMs === undefined ? {} : { remainingMs }),
    })),
    logins: auth.oauth.profiles.map(({ profileId, type, status, remainingMs }) => ({
      profileId,
      renews: type === "oauth",
      status,
      ...(remainingMs === undefined ? {} : { remainingMs }),
    })),
    hasCredential,
    problemWith(model) {
      try {
        const ref = namedModel(view, model);
        return choice.allowlistOf(config, choice.standardChoice(selection).ref).allows(ref) ? undefined : `${model} is not in agents.defaults.models`;
      } catch (error) {
        if (error instanceof AppError) return error.message;
        throw error;
      }
    },
  };
}

const SYSTEM = {
  systemd: ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"],
  launchd: ["/Library/LaunchDaemons", "/Library/LaunchAgents"],
} as const;

async function renew(io: Io, { file, content, mode, forget }: ServiceDefinition): Promise<string> {
  const kept = `${file}.bak`;
  const temporary = (path: string): string => `${path}.${process.pid}.new`;
  writeAtomic(kept, readFileSync(file), { mode: 0o600, temporary: temporary(kept) });
  writeAtomic(file, content, { mode, temporary: temporary(file) });
  // The file's own mode, whatever the umask is.
  chmodSync(file, mode);
  const problem = await control(io, forget);
  const remark = problem === undefined ? "" : ` (the platform was not notified: ${problem})`;
  return `Rewrote ${file}${remark}. The previous file is ${kept}. Apply it with: openclaw gateway restart`;
}

/** This user's service as the doctor looks at it. */
function serviceFacts(io: Io): ServiceFacts | undefined {
  const service = findService(io);
  const kind = service?.kind;
  // The file of a task says nothing about when it is started.
  if (!service || kind === undefined || kind === "schtasks") return undefined;
  const { label, file, content } = service;
  return {
    kind,
    label,
    file,
    content,
    installed: isInstalled(service) ? readFileSync(file, "utf8") : undefined,
    folders: { user: [dirname(file)], system: SYSTEM[kind] },
    renew: () => renew(io, service),
  };
}

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

/** Has the running gateway ask each platform. What the channel found stands over the bare error. */
async function accountTroubles(io: Io, config: DoctorDeps["config"], timeoutMs: number): Promise<readonly AccountTrouble[]> {
  const patience = timeoutMs * 2;
  const { value } = await tryGateway(io, await localTarget(io, config), patience, (client) => client.request("channels.status", { probe: true, timeoutMs }));
  return Object.entries(value?.channelAccounts ?? {}).flatMap(([channel, accounts]) =>
    accounts
      .filter(({ enabled, configured }) => enabled !== false && configured !== false)
      .flatMap(({ accountId, connected, lastError, probe, issues }): AccountTrouble[] => {
        const found = (Array.isArray(issues) ? (issues as unknown[]) : []).filter(isRecord).filter(({ kind }) => kind !== "config");
        const known = found.map(({ message, fix }) => ({ channel, accountId, text: String(message), ...(typeof fix === "string" ? { fix } : {}) }));
        const error = connected !== true && lastError ? lastError : isRecord(probe) && probe["ok"] === false ? String(probe["error"]) : undefined;
        return known.length > 0 || error === undefined ? known : [{ channel, accountId, text: error }];
      }),
  );
}

async function failedPlugins(io: Io, config: DoctorDeps["config"], timeoutMs: number): Promise<readonly FailedPlugin[]> {
  const { value } = await tryGateway(io, await localTarget(io, config), timeoutMs, (client) => client.request("plugins.list", {}));
  return (value?.plugins ?? []).flatMap(({ id, status, error }) => (status === "error" ? [{ id, error: error ?? "no reason given" }] : []));
}

interface DoctorFlags {
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
    models: once(async () => modelFacts(io)),
    service: () => serviceFacts(io),
    probe: (timeoutMs) => (probed ??= probeGateway(config.paths.state, timeoutMs)),
    accounts: (timeoutMs) => accountTroubles(io, config, timeoutMs),
    channelRules: async () => (await import("./channel-rules.ts")).examineChannels(io, flags.deep),
    failedPlugins: (timeoutMs) => failedPlugins(io, config, timeoutMs),
    [Symbol.dispose]: () => config[Symbol.dispose](),
  };
}

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { lockHolder, type LockHolder } from "../base/instance-lock.ts";
import { AppError, fileError } from "../base/errors.ts";
import { systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import { gatewayPort, openConfig, type Config, type SecretInput, stateLockPath } from "../config/index.ts";
import type { Io } from "./io.ts";

/** Flags that choose the gateway. */
export interface TargetFlags {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
}

/** A gateway to ask, and how it was found. */
export interface Target {
  readonly url: string;
  readonly kind: "given" | "remote" | "local";
  /** Where the address comes from, for people. */
  readonly source: string;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly tlsFingerprint?: string | undefined;
  /** The process behind it, on this machine. */
  readonly holder?: LockHolder | undefined;
  /** Device tokens in the state folder may be shown to it. */
  readonly storedTokens: boolean;
  readonly stateDir: string;
  readonly configPath: string;
  readonly bind: string;
}

/** Opens the configuration as commands read it: what is broken in it is no reason to stop. */
export function openForReading(io: Io): Promise<Config> {
  return openConfig({
    env: io.env,
    cwd: io.cwd,
    osHome: homedir(),
    version: io.version,
    clock: systemClock,
    ids: createIds(systemRandom),
    purpose: "inspect",
    warn: (text) => io.err(`${text}\n`),
  });
}

/** A secret of the configuration; undefined when none is set. */
export async function secretAt(config: Config, input: SecretInput | undefined, path: string): Promise<string | undefined> {
  return input === undefined || input === "" ? undefined : config.resolveSecret(input, path);
}

type Location = Pick<Target, "stateDir" | "configPath" | "bind">;

const configuredTarget = (config: Config): Location => ({
  stateDir: config.paths.state,
  configPath: config.paths.file,
  bind: config.current.gateway?.bind ?? "loopback",
});

/** The fingerprint of the certificate that the gateway of this state folder serves with. */
async function ownFingerprint(config: Config): Promise<string> {
  const path = config.current.gateway?.tls?.certPath ?? join(config.paths.state, "gateway", "tls", "gateway-cert.pem");
  const { X509Certificate } = await import("node:crypto");
  try {
    return new X509Certificate(readFileSync(path)).fingerprint256;
  } catch (error) {
    throw fileError(path, "could not read the gateway's certificate", error);
  }
}

/** Where the port of a gateway that does not run comes from, for people. */
function portSource(config: Config, port: number): string {
  if (port !== gatewayPort({}, { config: config.current.gateway?.port })) return "OPENCLAW_GATEWAY_PORT";
  const { valid, path } = config.snapshot();
  if (config.current.gateway?.port !== undefined) return valid ? "gateway.port" : "gateway.port of the last good configuration";
  return valid ? "the default port" : `the default port: ${path} has errors, see openclaw config validate`;
}

/** The gateway of this state folder, running or not. */
export async function localTarget(io: Io, config: Config, flags: TargetFlags = {}): Promise<Target> {
  const holder = lockHolder(stateLockPath(config.paths.state));
  const encrypted = config.current.gateway?.tls?.enabled === true;
  const port = holder?.port ?? gatewayPort(io.env, { config: config.current.gateway?.port });
  const hasCredentials = flags.token !== undefined || flags.password !== undefined;
  return {
    url: `${encrypted ? "wss" : "ws"}://127.0.0.1:${port}`,
    kind: "local",
    source: holder?.port === undefined ? portSource(config, port) : `the lock of process ${holder.pid}`,
    ...(hasCredentials ? { token: flags.token, password: flags.password } : { token: holder?.runSecret }),
    ...(encrypted && holder ? { tlsFingerprint: await ownFingerprint(config) } : {}),
    holder,
    storedTokens: !hasCredentials,
    ...configuredTarget(config),
  };
}

/** The gateway that `gateway.remote` names; undefined when it names none. */
export async function remoteTarget(config: Config, flags: TargetFlags = {}): Promise<Target | undefined> {
  const remote = config.current.gateway?.remote;
  const url = remote?.url?.trim();
  if (!remote || !url) return undefined;
  const hasCredentials = flags.token !== undefined || flags.password !== undefined;
  return {
    url,
    kind: "remote",
    source: "gateway.remote.url",
    token: hasCredentials ? flags.token : await secretAt(config, remote.token, "gateway.remote.token"),
    password: hasCredentials ? flags.password : await secretAt(config, remote.password, "gateway.remote.password"),
    tlsFingerprint: remote.tlsFingerprint,
    storedTokens: !hasCredentials,
    ...configuredTarget(config),
  };
}

/** Which gateway a command means: the one it names, else the remote one of the configuration, else the one of this state folder. */
export async function findTarget(io: Io, flags: TargetFlags): Promise<Target> {
  using config = await openForReading(io);
  if (flags.url !== undefined) {
    if (flags.token === undefined && flags.password === undefined) {
      throw new AppError("INVALID_INPUT", "--url uses no stored credential: add --token or --password");
    }
    const { token, password } = flags;
    return { url: flags.url, kind: "given", source: "--url", token, password, storedTokens: false, ...configuredTarget(config) };
  }
  if (config.current.gateway?.mode !== "remote") return localTarget(io, config, flags);
  const remote = await remoteTarget(config, flags);
  if (remote) return remote;
  throw new AppError("CONFIG_INVALID", `gateway.mode is "remote", but ${config.paths.file} has no gateway.remote.url; set it, or use --url`);
}

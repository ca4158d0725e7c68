import { AppError, messageOf } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import { loadNodeClient, type GatewayClient, type MethodName, type MethodParams, type MethodResult, type NodeConnectOptions } from "../protocol/index.ts";
import { JSON_OPTION, type Values } from "./command.ts";
import { findTarget, type Target } from "./gateway-target.ts";
import type { Io } from "./io.ts";

/** Flags of every command that asks a gateway. */
export const GATEWAY_OPTIONS = {
  url: { type: "string", value: "ws", help: "Gateway to connect to (needs --token or --password)" },
  token: { type: "string", value: "text", help: "Gateway token, instead of the stored one" },
  password: { type: "string", value: "text", help: "Gateway password" },
  timeout: { type: "string", value: "ms", help: "Time to wait, in ms (default 10000)" },
  json: JSON_OPTION,
} as const;

export type GatewayFlags = Values<typeof GATEWAY_OPTIONS>;

/** Milliseconds of `--timeout`. */
export function timeoutOf({ timeout }: { readonly timeout?: string | undefined }, fallback = 10_000): number {
  const ms = Number(timeout ?? fallback);
  if (!(ms > 0)) throw new AppError("INVALID_INPUT", `--timeout takes milliseconds above 0, not "${timeout}"`);
  return ms;
}

/** A gateway that does not take a connection within this time is not waited for, however long its answer may take. */
const MOST_CONNECT_MS = 30_000;

/** What to do about a gateway that cannot be reached. */
function adviceOf({ kind, holder }: Target): string {
  if (kind !== "local") return "check the URL and that the gateway is running";
  if (!holder) return "start it with: openclaw gateway";
  if (holder.port === undefined) return "wait a moment and try again";
  return `process ${holder.pid} holds the lock of ${holder.stateDir} but does not answer: try again; if that does not help, stop it (kill -9 ${holder.pid}) and start it with: openclaw gateway`;
}

function unreachable(target: Target, why: string, cause?: unknown): AppError {
  const { url, source, configPath, bind } = target;
  const start = adviceOf(target);
  return new AppError(
    "UNAVAILABLE",
    `the gateway cannot be reached: ${why}\n  target: ${url} (from ${source})\n  config: ${configPath}, bind ${bind}\n  ${start}`,
    {
      cause,
      details: { url, source, configPath, bind },
    },
  );
}

/** Adds what to do about a refused connection. */
function explained(target: Target, error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { protocolCode, details } = error.details;
  if (protocolCode === undefined) return error.code === "INVALID_INPUT" ? error : unreachable(target, error.message, error);
  const requestId = isRecord(details) && typeof details["requestId"] === "string" ? details["requestId"] : undefined;
  const advice =
    protocolCode === "NOT_PAIRED" && requestId !== undefined
      ? `approve this device on the gateway machine: openclaw devices approve ${requestId}`
      : "check the credentials: --token or --password, or gateway.remote in the configuration";
  return new AppError(error.code, `${target.url} refused the connection: ${error.message}\n  ${advice}`, { cause: error, details: error.details });
}

/**
 * Connects as this machine's command line. It always asks for the same scopes: one that asks for more later would have to be approved again.
 * `over`: how a program that stays connected identifies itself.
 */
export async function connectTo(
  io: Io,
  target: Target,
  timeoutMs: number,
  mode: "cli" | "probe" = "cli",
  over: Partial<Pick<NodeConnectOptions, "client" | "caps" | "requestTimeoutMs" | "onGap">> = {},
): Promise<GatewayClient> {
  const { token, password, tlsFingerprint, kind, holder, stateDir, storedTokens } = target;
  if (kind === "local" && !holder && token === undefined && password === undefined) throw unreachable(target, "no gateway is running on this state folder");
  if (kind === "local" && holder && holder.port === undefined) throw unreachable(target, `process ${holder.pid} is still starting`);
  const { connectNode } = await loadNodeClient();
  try {
    return await connectNode({
      url: target.url,
      client: { id: "cli", mode, version: io.version, platform: process.platform },
      stateDir,
      keepTokens: storedTokens,
      reconnect: false,
      connectTimeoutMs: Math.min(timeoutMs, MOST_CONNECT_MS),
      requestTimeoutMs: timeoutMs,
      ...over,
      ...(token === undefined ? {} : { token }),
      ...(password === undefined ? {} : { password }),
      ...(tlsFingerprint === undefined ? {} : { tlsFingerprint }),
    });
  } catch (error) {
    throw explained(target, error);
  }
}

/** Runs `use` with a connection to the gateway a command means, and closes it. */
export async function withGateway<T>(io: Io, flags: GatewayFlags, use: (client: GatewayClient, target: Target) => Promise<T>): Promise<T> {
  const target = await findTarget(io, flags);
  await using client = await connectTo(io, target, timeoutOf(flags));
  return await use(client, target);
}

/** Asks the gateway one thing. */
export function callGateway<M extends MethodName>(io: Io, method: M, params: MethodParams<M>, flags: GatewayFlags): Promise<MethodResult<M>> {
  return withGateway(io, flags, (client) => client.request(method, params));
}

export interface Answered<T> {
  readonly ok: boolean;
  readonly latencyMs?: number;
  readonly value?: T;
  readonly error?: string;
}

/** Asks a target without failing: what came, or why nothing did. */
export async function tryGateway<T>(io: Io, target: Target, timeoutMs: number, use: (client: GatewayClient) => Promise<T>): Promise<Answered<T>> {
  const started = performance.now();
  try {
    await using client = await connectTo(io, target, timeoutMs, "probe");
    const latencyMs = Math.round(performance.now() - started);
    return { ok: true, latencyMs, value: await use(client) };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}

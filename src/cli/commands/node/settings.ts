import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError, fileError, systemCode } from "../../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";
import { identify, isRunning, type ProcessIdentity } from "../../../base/process-identity.ts";
import { isRecord } from "../../../base/records.ts";
import type { Values } from "../../command.ts";
import { parsePort } from "../gateway/port.ts";

/** Flags of `node run` and `node install`. */
export const HOST_OPTIONS = {
  host: { type: "string", value: "name", help: "Gateway host (default 127.0.0.1)" },
  port: { type: "string", value: "n", help: "Gateway port (default 18789)" },
  tls: { type: "boolean", help: "Use TLS" },
  "tls-fingerprint": { type: "string", value: "sha256", help: "Accept this certificate; implies --tls" },
  "node-id": { type: "string", value: "text", help: "Instance id in the gateway's client list" },
  "display-name": { type: "string", value: "text", help: "Node name (default: the host name)" },
} as const;

/** What is stored about this machine as a node. */
export interface NodeSettings {
  readonly nodeId: string;
  readonly displayName?: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly tlsFingerprint?: string | undefined;
}

const settingsFile = (stateDir: string): string => join(stateDir, "node.json");

/** Identity, tokens and journal of this node. */
export const nodeFolder = (stateDir: string): string => join(stateDir, "node");

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (systemCode(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw fileError(path, "could not read", error);
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

/** The stored settings, with defaults for what is not stored. */
export function loadSettings(stateDir: string): NodeSettings {
  const stored = readJson(settingsFile(stateDir));
  const { nodeId, displayName, gateway } = isRecord(stored) ? stored : {};
  const { host, port, tls, tlsFingerprint } = isRecord(gateway) ? gateway : {};
  return {
    nodeId: textOf(nodeId) ?? crypto.randomUUID(),
    displayName: textOf(displayName),
    host: textOf(host) ?? "127.0.0.1",
    port: typeof port === "number" ? port : 18_789,
    tls: tls === true,
    tlsFingerprint: textOf(tlsFingerprint),
  };
}

/** The stored settings with what the flags change, stored again. */
export function changeSettings(stateDir: string, flags: Values<typeof HOST_OPTIONS>): NodeSettings {
  const before = loadSettings(stateDir);
  const fingerprint = textOf(flags["tls-fingerprint"]) ?? before.tlsFingerprint;
  const settings: NodeSettings = {
    nodeId: textOf(flags["node-id"]) ?? before.nodeId,
    displayName: textOf(flags["display-name"]) ?? before.displayName,
    host: textOf(flags.host) ?? before.host,
    port: parsePort(flags.port, 1) ?? before.port,
    tls: flags.tls ?? (flags["tls-fingerprint"] === undefined ? before.tls : true),
    tlsFingerprint: fingerprint,
  };
  const { nodeId, displayName, ...gateway } = settings;
  ensureFolder(stateDir);
  const path = settingsFile(stateDir);
  writeAtomic(path, `${JSON.stringify({ version: 1, nodeId, displayName, gateway }, null, 2)}\n`, { mode: 0o600, temporary: `${path}.${process.pid}.new` });
  return settings;
}

export const gatewayUrl = ({ host, port, tls }: NodeSettings): string => `${tls ? "wss" : "ws"}://${host.includes(":") ? `[${host}]` : host}:${port}`;

const processFile = (stateDir: string): string => join(nodeFolder(stateDir), "process.json");

/** The process that runs as this node now, if one does. */
export function runningNode(stateDir: string): ProcessIdentity | undefined {
  const found = readJson(processFile(stateDir));
  if (!isRecord(found) || typeof found["pid"] !== "number") return undefined;
  const identity = found as unknown as ProcessIdentity;
  return isRunning(identity) ? identity : undefined;
}

/** Notes that this process runs as the node. Throws when another one does. */
export function claimNode(stateDir: string): void {
  const other = runningNode(stateDir);
  if (other && other.pid !== process.pid)
    throw new AppError(
      "LOCKED",
      `process ${other.pid} already runs as this node; stop it with \`openclaw node stop\`, or use another state folder (OPENCLAW_STATE_DIR)`,
    );
  ensureFolder(nodeFolder(stateDir));
  const path = processFile(stateDir);
  writeAtomic(path, `${JSON.stringify(identify(process.pid))}\n`, { mode: 0o600, temporary: `${path}.${process.pid}.new` });
}

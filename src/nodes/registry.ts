import type { Clock } from "../base/clock.ts";
import type { Config, OpenClawConfig } from "../config/index.ts";
import type { ConnectParams, EventName, EventPayload, MethodResult } from "../protocol/index.ts";
import { printableName } from "../base/printable.ts";
import { allowedCommands } from "./commands.ts";

export type NodeEntry = MethodResult<"node.list">["nodes"][number];

/** The way to one connected node. */
export interface NodeLink {
  readonly connId: string;
  /** False when it could not be sent. */
  send<E extends EventName>(event: E, payload: EventPayload<E>): boolean;
  close(reason: string): void;
  /** Session keys whose events the node gets once more. */
  followed(): Set<string>;
}

/** A node as it connected. */
export interface NodeSession {
  readonly nodeId: string;
  readonly link: NodeLink;
  readonly displayName?: string;
  readonly platform: string;
  readonly version: string;
  readonly deviceFamily?: string;
  readonly modelIdentifier?: string;
  readonly remoteIp?: string;
  readonly caps: readonly string[];
  /** What it claims; the configuration decides what it is asked for. */
  readonly declared: ReadonlySet<string>;
  readonly pathEnv?: string;
  readonly permissions?: Readonly<Record<string, boolean>>;
  readonly connectedAtMs: number;
}

/** A device that was approved as a node. */
export interface PairedNodeDevice {
  readonly nodeId: string;
  readonly displayName?: string | undefined;
  readonly platform?: string | undefined;
  readonly remoteIp?: string | undefined;
  readonly lastSeenAtMs?: number | undefined;
}

export interface RegistryDeps {
  readonly clock: Clock;
  readonly config: Pick<Config, "current">;
  /** Devices with the role node, paired nodes with their names, and names that were given here. */
  readonly paired: () => Promise<readonly PairedNodeDevice[]>;
}

/** Nodes that are connected or paired. */
export interface NodeRegistry {
  connected(nodeId: string, params: ConnectParams, remoteIp: string | undefined, link: NodeLink): void;
  disconnected(connId: string): void;
  get(nodeId: string): NodeSession | undefined;
  list(): Promise<readonly NodeEntry[]>;
  /** Called with a session that ended: its socket is gone, or another one took its place. */
  onGone(listener: (session: NodeSession) => void): void;
}

const MOST_DECLARED = 500;
const MOST_NAME = 200;
const MOST_PATH = 32_768;

/** A node that lies about its size is cut, not refused. */
function bounded(values: readonly string[] | undefined): readonly string[] {
  return (values ?? []).slice(0, MOST_DECLARED).flatMap((value) => (value.length <= MOST_NAME ? [value.trim()] : []));
}

const name = (text: string | undefined): string | undefined => (text === undefined ? undefined : printableName(text).slice(0, MOST_NAME) || undefined);

function sessionOf(nodeId: string, params: ConnectParams, remoteIp: string | undefined, link: NodeLink, now: number): NodeSession {
  const { client, caps, commands, pathEnv, permissions } = params;
  const { platform, version, deviceFamily, modelIdentifier } = client;
  const displayName = name(client.displayName);
  return {
    nodeId,
    link,
    platform: name(platform) ?? "unknown",
    version: name(version) ?? "unknown",
    caps: bounded(caps),
    declared: new Set(bounded(commands)),
    connectedAtMs: now,
    ...(displayName === undefined ? {} : { displayName }),
    ...(deviceFamily === undefined ? {} : { deviceFamily: deviceFamily.slice(0, MOST_NAME) }),
    ...(modelIdentifier === undefined ? {} : { modelIdentifier: modelIdentifier.slice(0, MOST_NAME) }),
    ...(remoteIp === undefined ? {} : { remoteIp }),
    ...(pathEnv === undefined ? {} : { pathEnv: pathEnv.slice(0, MOST_PATH) }),
    ...(permissions === undefined ? {} : { permissions: Object.fromEntries(Object.entries(permissions).slice(0, MOST_DECLARED)) }),
  };
}

function connectedEntry(session: NodeSession, paired: PairedNodeDevice | undefined, config: OpenClawConfig): NodeEntry {
  const { link: _, declared, displayName: own, caps, ...facts } = session;
  const allowed = allowedCommands(session.platform, config);
  const displayName = paired?.displayName ?? own;
  return {
    ...facts,
    ...(displayName === undefined ? {} : { displayName }),
    caps: [...caps].sort(),
    commands: [...declared].filter((command) => allowed.has(command)).sort(),
    paired: paired !== undefined,
    connected: true,
  };
}

function absentEntry({ nodeId, displayName, platform, remoteIp, lastSeenAtMs }: PairedNodeDevice): NodeEntry {
  const known = Object.entries({ displayName, platform, remoteIp, lastSeenAtMs }).filter(([, value]) => value !== undefined && value !== "");
  return { nodeId, ...(Object.fromEntries(known) as Partial<NodeEntry>), caps: [], commands: [], paired: true, connected: false };
}

export function createNodeRegistry({ clock, config, paired }: RegistryDeps): NodeRegistry {
  const sessions = new Map<string, NodeSession>();
  const listeners = new Set<(session: NodeSession) => void>();
  const gone = (session: NodeSession): void => {
    for (const listener of listeners) listener(session);
  };

  return {
    connected(nodeId, params, remoteIp, link) {
      const former = sessions.get(nodeId);
      sessions.set(nodeId, sessionOf(nodeId, params, remoteIp, link, clock.now()));
      if (!former) return;
      gone(former);
      former.link.close("replaced: this node connected again");
    },
    disconnected(connId) {
      for (const [nodeId, session] of sessions) {
        if (session.link.connId !== connId) continue;
        sessions.delete(nodeId);
        gone(session);
      }
    },
    get: (nodeId) => sessions.get(nodeId),
    async list() {
      const devices = new Map((await paired()).map((device) => [device.nodeId, device]));
      const here = [...sessions.values()].map((session) => connectedEntry(session, devices.get(session.nodeId), config.current));
      const away = [...devices.values()].filter(({ nodeId }) => !sessions.has(nodeId)).map(absentEntry);
      const label = (entry: NodeEntry): string => (entry.displayName ?? entry.nodeId).toLowerCase();
      const byName = (a: NodeEntry, b: NodeEntry): number => (label(a) < label(b) ? -1 : label(a) > label(b) ? 1 : a.nodeId < b.nodeId ? -1 : 1);
      return [...here.sort(byName), ...away.sort(byName)];
    },
    onGone: (listener) => void listeners.add(listener),
  };
}

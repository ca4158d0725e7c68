import type { MethodResult } from "openclaw/client";
import { t } from "../../words/words.ts";

export type NodeLine = MethodResult<"node.list">["nodes"][number];
export type NodeFacts = MethodResult<"node.describe">;
export type Refused = NonNullable<NodeFacts["refused"]>[number];
export type Invoke = MethodResult<"node.invokes">["invokes"][number];
type DeviceRequest = MethodResult<"device.pair.list">["pending"][number];
type OwnRequest = MethodResult<"node.pair.list">["pending"][number];

/** A machine that asks to be a node. A device asks to connect as one; the others were announced with `node.pair.request`. */
export interface NodeRequest {
  readonly requestId: string;
  readonly nodeId: string;
  readonly kind: "device" | "node";
  readonly name: string;
  readonly platform?: string | undefined;
  readonly version?: string | undefined;
  readonly remoteIp?: string | undefined;
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly isRepair: boolean;
  readonly ts: number;
}

/** What a node is called: its name, or the beginning of its id. */
export const nodeName = ({ displayName, nodeId }: { readonly displayName?: string | undefined; readonly nodeId: string }): string =>
  displayName?.trim() || t`Node ${nodeId.slice(0, 8)}`;

/** Whether a device asks to connect as a node. */
export const asksAsNode = ({ role, roles = [] }: DeviceRequest): boolean => role === "node" || roles.includes("node");

/** Pending requests of nodes, oldest first: the one that ends soonest. */
export function nodeRequests(devices: readonly DeviceRequest[], own: readonly OwnRequest[]): readonly NodeRequest[] {
  const fromDevices = devices
    .filter(asksAsNode)
    .map(({ requestId, deviceId, displayName, platform, remoteIp, caps = [], commands = [], isRepair, ts }): NodeRequest => ({
      requestId,
      nodeId: deviceId,
      kind: "device",
      name: nodeName({ displayName, nodeId: deviceId }),
      platform,
      remoteIp,
      caps,
      commands,
      isRepair: isRepair ?? false,
      ts,
    }));
  const others = own.map(({ requestId, nodeId, displayName, platform, version, remoteIp, caps = [], commands = [], isRepair, ts }): NodeRequest => ({
    requestId,
    nodeId,
    kind: "node",
    name: nodeName({ displayName, nodeId }),
    platform,
    version,
    remoteIp,
    caps,
    commands,
    isRepair,
    ts,
  }));
  return [...fromDevices, ...others].toSorted((a, b) => a.ts - b.ts);
}

const PLATFORMS: readonly (readonly [RegExp, string])[] = [
  [/^(?:mac|darwin|osx)/i, "macOS"],
  [/^win/i, t("Windows")],
  [/^linux/i, t("Linux")],
  [/^ipados/i, "iPadOS"],
  [/^ios/i, "iOS"],
  [/^android/i, t("Android")],
];

/** A platform as people know it, with the version that it names. */
export function platformName(platform: string | undefined): string {
  const text = platform?.trim() ?? "";
  const known = PLATFORMS.find(([pattern]) => pattern.test(text));
  const version = /\s(\d[\d.]*)/.exec(text)?.[1];
  return known ? [known[1], version].filter(Boolean).join(" ") : text;
}

/** Commands without parameters that change nothing. Each has a button. */
const PLAIN = new Set(["camera.list", "device.info", "device.status", "location.get", "motion.activity", "motion.pedometer"]);

export const plainLooks = (commands: readonly string[]): readonly string[] => commands.filter((command) => PLAIN.has(command));

/** The key that refuses a command. */
export const keyOf = ({ why }: Pick<Refused, "why">): string => `gateway.nodes.${why === "denied" ? "denyCommands" : "allowCommands"}`;

/** `gateway.nodes.allowCommands` and `denyCommands`. */
export interface CommandLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export function commandLists(config: unknown): CommandLists {
  const nodes = ((config ?? {}) as { gateway?: { nodes?: Record<string, unknown> } }).gateway?.nodes ?? {};
  const listIn = (name: string): readonly string[] => {
    const list = nodes[name];
    return Array.isArray(list) ? list.filter((entry) => typeof entry === "string") : [];
  };
  return { allow: listIn("allowCommands"), deny: listIn("denyCommands") };
}

/** The lists with a refused command allowed, for all nodes. */
export function allowing({ command, why }: Refused, { allow, deny }: CommandLists): CommandLists {
  if (why === "not-allowed") return { allow: [...allow, command], deny };
  return { allow, deny: deny.filter((entry) => entry.trim() !== command) };
}

/** How the page was reached, as far as a node can be reached in the same way. */
export interface Address {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || host.startsWith("127.");

const runCommand = (host: string, port: string, ...more: readonly string[]): string =>
  ["openclaw", "node", "run", "--host", host, "--port", port, ...more].join(" ");

/** What makes another machine a node. Without TLS a node connects to its own machine only, so it needs a tunnel that ends there. */
export function joinCommands({ protocol, hostname, port }: Address): { readonly run: string; readonly tunnel: string | undefined } {
  const isSecure = protocol === "https:";
  const number = port === "" ? (isSecure ? "443" : "80") : port;
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isSecure) return { run: runCommand(host, number, "--tls"), tunnel: undefined };
  const server = isLoopback(hostname) ? t("user@gateway") : t`user@${host}`;
  return { run: runCommand("127.0.0.1", number), tunnel: `ssh -N -L ${number}:127.0.0.1:${number} ${server}` };
}

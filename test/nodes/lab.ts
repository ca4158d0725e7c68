import type { ConnectParams } from "../../src/protocol/index.ts";
import { createDevice, type TestDevice } from "../harness/auth.ts";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import type { Frame } from "../harness/gateway-client.ts";
import { TOKEN, type Started } from "../security/start.ts";

export interface NodeOptions {
  readonly device?: TestDevice;
  readonly platform?: string;
  readonly displayName?: string;
  readonly commands?: readonly string[];
  readonly caps?: readonly string[];
  readonly pathEnv?: string;
}

/** A node over a socket of its own, paired as a device from this machine. */
export async function connectNode({ url }: Pick<Started, "url">, options: NodeOptions = {}): Promise<DeviceClient & { readonly nodeId: string }> {
  const { device = createDevice(), platform = "linux", displayName, commands = ["system.run", "system.which"], caps = ["system"], pathEnv } = options;
  const client = {
    id: "node-host",
    mode: "node",
    version: "1.2.3",
    platform,
    ...(displayName === undefined ? {} : { displayName }),
  } as ConnectParams["client"];
  const params = { client, commands: [...commands], caps: [...caps], ...(pathEnv === undefined ? {} : { pathEnv }) };
  const node = await enter(url, { device, token: TOKEN, role: "node", scopes: [], params });
  return Object.assign(node, { nodeId: device.id });
}

export const connectOperator = ({ url }: Pick<Started, "url">, scopes: readonly string[] = ["operator.admin"]): Promise<DeviceClient> =>
  enter(url, { token: TOKEN, scopes });

export interface Asked {
  readonly id: string;
  readonly nodeId: string;
  readonly command: string;
  readonly paramsJSON: string | null;
  readonly timeoutMs: number;
  readonly idempotencyKey: string;
}

/** The request for a command under this key, once it has come. */
export async function askedFor(node: DeviceClient, key: string): Promise<Asked> {
  const frame = await node.next(({ event, payload }) => event === "node.invoke.request" && payload!["idempotencyKey"] === key);
  return frame.payload as unknown as Asked;
}

export const requests = (node: DeviceClient): readonly Frame[] => node.frames.filter(({ event }) => event === "node.invoke.request");

/** What labs share whose platform is a fake over HTTP and WebSocket. */
import { fileURLToPath } from "node:url";
import { createTestHost, type FakeServer } from "../../../src/plugin-testing/index.ts";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, LabSettings, MakeLab } from "./lab.ts";
import { until } from "./suite/heard.ts";

export interface LabGround {
  readonly server: FakeServer;
}

/** What every such lab has from its server. */
type Shared =
  | "channel"
  | "capabilities"
  | "gateway"
  | "server"
  | "traffic"
  | "isUp"
  | "dropConnection"
  | "away"
  | "mendCredentials"
  | typeof Symbol.asyncDispose;

export interface HttpLabSpec<G extends LabGround> {
  readonly channel: string;
  readonly startGateway?: typeof startLabGateway;
  prepare(): Promise<G>;
  /** `channels.<id>`, with wrong credentials where the settings ask for them. */
  sectionOf(ground: G, settings: LabSettings): Readonly<Record<string, unknown>>;
  /** For the gateway only. */
  env?(ground: G): Record<string, string>;
  /** The platform sees the account; the gateway's own word is asked for as well. */
  isUp(ground: G): boolean;
  /** The rest, and what is different. */
  lab(ground: G, gateway: LabGateway): Omit<ChannelLab, Shared> & Partial<Pick<ChannelLab, Shared>>;
}

async function claimsOf(channel: string): Promise<ChannelCapabilities> {
  await using host = await createTestHost({ plugins: [fileURLToPath(new URL(`../../../plugins/${channel}`, import.meta.url))] });
  return (host.channel(channel) as ChannelPlugin).capabilities;
}

async function openLab<G extends LabGround>(spec: HttpLabSpec<G>, settings: LabSettings, capabilities: ChannelCapabilities): Promise<ChannelLab> {
  const { channel, startGateway = startLabGateway } = spec;
  const ground = await spec.prepare();
  const { server } = ground;
  const gateway = await startGateway({ sections: { channels: { [channel]: spec.sectionOf(ground, settings) } }, env: spec.env?.(ground) ?? {} });
  const lab: ChannelLab = {
    channel,
    capabilities,
    gateway,
    server,
    traffic: () => server.asked.length,
    isUp: async () => spec.isUp(ground) && (await gateway.account(channel))?.connected === true,
    dropConnection() {
      server.drop();
      return Promise.resolve();
    },
    async away(during) {
      await server.close();
      await during();
      await server.open();
    },
    mendCredentials() {
      const { credentials: _wrong, ...right } = settings;
      gateway.configure({ channels: { [channel]: spec.sectionOf(ground, right) } });
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
    ...spec.lab(ground, gateway),
  };
  if (settings.credentials === "wrong") return lab;
  const asked = (): string => server.asked.map(({ method, path }) => `${method} ${path}`).join(", ") || "nothing";
  await until(
    () => lab.isUp(),
    () => `the account is not up; it asked for ${asked()}\n${gateway.output()}`,
  ).catch(async (error: unknown) => {
    await lab[Symbol.asyncDispose]();
    throw error;
  });
  return lab;
}

export function labsOf<G extends LabGround>(spec: HttpLabSpec<G>): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => openLab(spec, settings, await (claims ??= claimsOf(spec.channel)));
}

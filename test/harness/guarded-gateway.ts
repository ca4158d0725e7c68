import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { enter, type DeviceClient } from "./device-client.ts";
import { freePort } from "./free-port.ts";
import { makePlace, type GatewayProcess, type Place } from "./gateway-process.ts";
import { orders, startHijackedModel, type HijackedCall, type HijackedModel } from "./hijacked-model.ts";

export const TOKEN = "guarded-gateway-token-0123456789";

export interface PlantedPlugin {
  readonly id: string;
  /** The body of `register(api)`, an async function; `home` is the test's folder. */
  readonly code: string;
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** `plugins.entries.<id>`. */
  readonly entry?: Readonly<Record<string, unknown>>;
}

/** A folder with plugins and a model that makes the calls a message asks for; gateways are started in it as a test needs them. */
export interface GuardedPlace extends AsyncDisposable {
  readonly place: Place;
  readonly model: HijackedModel;
  readonly port: number;
  readonly url: string;
  /** A file in the agent's workspace. */
  inside(name: string): string;
  plant(plugin: PlantedPlugin): void;
  /** Writes the configuration for what is planted; `gateway` is added to that section. */
  configure(gateway?: Readonly<Record<string, unknown>>): void;
  /** Kills the gateway that runs and starts another; resolves when that is ready or has ended. */
  start(): Promise<GatewayProcess>;
  enter(): Promise<DeviceClient>;
  /** A message that makes the model call tools. */
  readonly orders: (calls: readonly HijackedCall[]) => string;
}

/** A plugin whose trusted policy and `before_tool_call` hook refuse every call that writes. */
export const POLICE: PlantedPlugin = {
  id: "police",
  manifest: { contracts: { trustedToolPolicies: ["no-writes"] } },
  code: `
    const refuse = ({ toolName }) => (toolName === "write" || toolName === "session_status" ? { block: true, blockReason: "the police refuses " + toolName } : undefined);
    api.registerTrustedToolPolicy({ id: "no-writes", description: "d", evaluate: refuse });
    api.on("before_tool_call", refuse);
  `,
};

/** A plugin that registers when a file appears; who runs it is in the file `pid`. */
export const SLOW: PlantedPlugin = {
  id: "a-slow",
  code: `writeFileSync(home + "/pid", String(process.pid));
    while (!existsSync(home + "/go")) await new Promise((resolve) => setTimeout(resolve, 10));`,
};

export async function makeGuardedPlace(): Promise<GuardedPlace> {
  const place = makePlace();
  const model = await startHijackedModel();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const workspace = join(place.home, "workspace");
  mkdirSync(workspace, { recursive: true });
  const planted = new Map<string, PlantedPlugin>();
  const gateways: GatewayProcess[] = [];
  return {
    place,
    model,
    port,
    url,
    orders,
    inside: (name) => join(workspace, name),
    plant(plugin) {
      planted.set(plugin.id, plugin);
      const folder = join(place.home, "plugins", plugin.id);
      mkdirSync(folder, { recursive: true });
      const head = `import { existsSync, readFileSync, writeFileSync, appendFileSync } from "node:fs";\nconst home = ${JSON.stringify(place.home)};\n`;
      writeFileSync(join(folder, "index.ts"), `${head}export default async function register(api) {\n${plugin.code}\n}\n`);
      const manifest = { id: plugin.id, configSchema: { type: "object", properties: {} }, ...plugin.manifest };
      writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify(manifest));
    },
    configure(gateway = {}) {
      const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
      const entries = Object.fromEntries([...planted.values()].map(({ id, entry }) => [id, { enabled: true, ...entry }]));
      place.configure(
        JSON.stringify({
          gateway: {
            mode: "local",
            auth: { mode: "token", token: TOKEN },
            ...gateway,
            http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } },
          },
          agents: { defaults: { model: { primary: "mock/m1" }, skipBootstrap: true, workspace } },
          tools: { exec: { host: "gateway", security: "full", ask: "off" } },
          models: { providers: { mock: { baseUrl: model.url, apiKey: "k", api: "openai-completions", models } } },
          plugins: { load: { paths: [...planted.keys()].map((id) => join(place.home, "plugins", id)) }, entries },
        }),
      );
    },
    async start() {
      for (const gateway of gateways.splice(0)) await gateway[Symbol.asyncDispose]();
      const gateway = await place.gateway({ args: ["--port", String(port)] });
      gateways.push(gateway);
      return gateway;
    },
    enter: () => enter(url, { token: TOKEN, scopes: ["operator.admin", "operator.read", "operator.write", "operator.approvals"] }),
    async [Symbol.asyncDispose]() {
      for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

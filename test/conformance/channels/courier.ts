/** The channel of docs/channels/kit.md, as it stands there, with its platform and a real gateway. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestHost } from "../../../src/plugin-testing/index.ts";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { type FakeCourier, startCourier, type Written } from "../../fakes/courier/server.ts";
import { readPage } from "../../harness/docs-page.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, FaultName, LabFaults, Lacks, LabSettings, MakeLab, Received, SayOptions, Spot } from "./lab.ts";
import { until } from "./suite/heard.ts";

const TOKEN = "token-of-the-courier-0123456789";
const WRONG = "wrong-token-of-the-courier-0123";
export const COURIER_SECRET = "signing-secret-of-the-courier-01";
const GROUP = "workshop";

export const COURIER_LACKS: Lacks = {
  edit: "the example reads messages only",
  reaction: "the example reads messages only",
  button: "the example reads messages only",
  member: "the example reads messages only",
  reply: "a message of Courier answers no other one",
  thread: "Courier has no threads",
  mediaIn: "the example carries text only",
  mediaStored: "the example carries text only",
  mediaOut: "the example carries text only",
  reconnect: "nothing is connected: the platform posts",
};

/** Credentials are looked at when the account starts, and a webhook can be half-open only for the platform. */
export const COURIER_FAULTS: readonly FaultName[] = ["lostAnswer", "serverError", "tooMany", "garbageAnswer", "slow", "garbageEvents", "reorder", "killed"];

const MANIFEST = {
  id: "courier",
  channels: ["courier"],
  channelConfigs: {
    courier: {
      common: true,
      schema: {
        properties: {
          token: { type: "string", "x-sensitive": true },
          signingSecret: { type: "string", "x-sensitive": true },
          baseUrl: { type: "string" },
          webhookPath: { type: "string" },
        },
      },
    },
  },
  configSchema: { type: "object", properties: {} },
};

/** The plugin as a folder. */
export function writeCourierPlugin(): { readonly folder: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "courier-"));
  const { text } = readPage("docs/channels/kit.md").blocks.find((block) => block.text.startsWith("// courier.ts"))!;
  writeFileSync(join(folder, "courier.ts"), text);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "courier", version: "1.0.0", type: "module", openclaw: { extensions: ["./courier.ts"] } }),
  );
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify(MANIFEST));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

function sectionOf({ url }: FakeCourier, token: string, { access = "allowlist", channel = {} }: LabSettings): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    baseUrl: url,
    token,
    signingSecret: COURIER_SECRET,
    dmPolicy: access,
    allowFrom: ["olga"],
    groupPolicy: "allowlist",
    groupAllowFrom: ["olga"],
    groups: { [GROUP]: { requireMention: true } },
    ...channel,
  };
}

/** What a person of the lab does and sees. */
function createPeople(courier: FakeCourier): Pick<ChannelLab, "say" | "received" | "redeliver"> & { write(text: string, options?: SayOptions): Written } {
  const written = new Map<string, Written>();
  const nameOf = ({ by = "owner" }: Spot): string => (by === "owner" ? "olga" : "mallory");
  function write(text: string, options: SayOptions = {}): Written {
    const name = nameOf(options);
    const group = (options.where ?? "direct") === "direct" ? undefined : GROUP;
    const message = { id: `m${written.size + 1}`, from: { id: name, name }, text, group, mentioned: options.mention };
    written.set(message.id, message);
    return message;
  }
  return {
    write,
    say(text, options = {}) {
      const message = write(text, options);
      // The platform posts it until it is taken, however long that takes, and then the next.
      void courier.deliveries.deliver(message);
      return Promise.resolve({ id: message.id, ...options });
    },
    redeliver: ({ id }) => courier.deliveries.redeliver(written.get(id)!, 1),
    received(spot = {}) {
      const chat = (spot.where ?? "direct") === "direct" ? nameOf(spot) : GROUP;
      return courier.sent.filter(({ to }) => to === chat).map(({ id, text }): Received => ({ id, text }));
    },
  };
}

function createFaults(courier: FakeCourier, write: (text: string) => Written): LabFaults {
  const on = "POST /messages";
  return {
    lostAnswer: () => courier.faults.add({ on, reset: true, applied: true }),
    serverError: (hadEffect) => courier.faults.add({ on, status: 502, applied: hadEffect }),
    tooMany: (waitMs, times) => courier.faults.add({ on, status: 429, headers: { "retry-after": String(waitMs / 1000) }, times }),
    garbageAnswer: () => courier.faults.add({ on, garbage: true, applied: true }),
    slow: (ms) => (ms === undefined ? courier.faults.clear() : courier.faults.add({ delayMs: ms, times: Number.POSITIVE_INFINITY })),
    async garbageEvents() {
      const bodies = [
        "",
        "{",
        "5",
        "[]",
        '{"messages":5}',
        '{"messages":[5,null,{"id":1,"text":"w-bad"}]}',
        '{"messages":[{"id":"x","from":"olga","text":"w-bad"}]}',
      ];
      for (const body of bodies) await courier.post(body);
    },
    reorder: (texts) =>
      courier.deliveries.reorder(() => {
        for (const text of texts) void courier.deliveries.deliver(write(text));
      }),
  };
}

function createLab(courier: FakeCourier, plugin: Disposable, gateway: LabGateway, settings: LabSettings, capabilities: ChannelCapabilities): ChannelLab {
  const { write, ...people } = createPeople(courier);
  return {
    ...people,
    channel: "courier",
    capabilities,
    limits: { text: 2000, measure: (text) => text.length },
    gateway,
    strangerMarks: ["mallory"],
    secrets: [TOKEN, WRONG, COURIER_SECRET],
    isUp: async () => gateway.isRunning() && (await gateway.account("courier"))?.connected === true,
    traffic: () => courier.asked.length,
    connections: () => courier.connections,
    conflicts: () => 0,
    async away(during) {
      await courier.close();
      await during();
      await courier.open();
    },
    mendCredentials() {
      gateway.configure({ channels: { courier: sectionOf(courier, TOKEN, settings) } });
      return Promise.resolve();
    },
    loseReceipt: () => courier.faults.add({ on: "POST /messages", reset: true, applied: true }),
    floodLimit: (pauseMs) => courier.limit(pauseMs),
    faults: createFaults(courier, write),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await courier[Symbol.asyncDispose]();
      plugin[Symbol.dispose]();
    },
  };
}

async function claimsOf(): Promise<ChannelCapabilities> {
  using plugin = writeCourierPlugin();
  await using host = await createTestHost({ plugins: [plugin.folder] });
  return (host.channel("courier") as ChannelPlugin).capabilities;
}

/** A channel that another author made with the kit. */
export function courierLabs(): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => {
    const capabilities = await (claims ??= claimsOf());
    const courier = await startCourier([TOKEN]);
    const plugin = writeCourierPlugin();
    const isWrong = settings.credentials === "wrong";
    const gateway = await startLabGateway({
      sections: {
        channels: { courier: sectionOf(courier, isWrong ? WRONG : TOKEN, settings) },
        plugins: { load: { paths: [plugin.folder] }, entries: { courier: { enabled: true } } },
      },
    });
    courier.postTo(() => (gateway.isRunning() ? `${gateway.url.replace(/^ws/, "http")}/webhooks/courier` : undefined), COURIER_SECRET);
    const lab = createLab(courier, plugin, gateway, settings, capabilities);
    if (isWrong) return lab;
    await until(
      () => lab.isUp(),
      () => `the account is not up\n${gateway.output()}`,
    ).catch(async (error: unknown) => {
      await lab[Symbol.asyncDispose]();
      throw error;
    });
    return lab;
  };
}

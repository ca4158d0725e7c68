import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import type { Admission, AdmitInput, Auth, Revocation } from "../../src/gateway/auth/index.ts";
import { createGateway, type Gateway, type GatewayDeps, type GatewayHub } from "../../src/gateway/create-gateway.ts";
import type { Handlers, HealthReport, Responder } from "../../src/gateway/index.ts";
import { openServer, type GatewayServer, type ServerSettings } from "../../src/gateway/server.ts";
import type { Role } from "../../src/protocol/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";

/** Lets everybody in with what they ask for. `refuse` answers instead; `revoke` tells what is no longer valid. */
export interface OpenAuth extends Auth {
  refuse: ((input: AdmitInput) => Admission | undefined | Promise<Admission | undefined>) | undefined;
  revoke(revocation: Revocation): void;
}

export function openAuth(): OpenAuth {
  const listeners = new Set<(revocation: Revocation) => void>();
  const peer = {
    ip: "127.0.0.1",
    socketIp: "127.0.0.1",
    trustedProxy: false,
    forwarded: false,
    hostName: "127.0.0.1",
    local: true,
    direct: true,
    budgetKey: "127.0.0.1",
  };
  const auth: Partial<OpenAuth> = {
    mode: "token",
    refuse: undefined,
    async admit(input) {
      const refused = await auth.refuse?.(input);
      if (refused) return refused;
      const { role = "operator", scopes = [], device } = input.params;
      return { ok: true, role: role as Role, scopes: new Set(scopes), method: "device-token", peer, ...(device ? { deviceId: device.id } : {}) };
    },
    peerOf: () => peer,
    checkHost: () => ({ ok: true }),
    checkUpgrade: () => ({ ok: true }),
    bearer: async () => ({ ok: false, status: 401, message: "Unauthorized", peer }),
    onRevoked(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    revoke(revocation) {
      for (const listener of listeners) listener(revocation);
    },
  };
  return auth as OpenAuth;
}

const REPORT: HealthReport = {
  ok: true,
  status: "ok",
  version: "1.2.3",
  pid: 1,
  startedAt: "2026-01-01T00:00:00.000Z",
  uptimeMs: 5,
  problems: [],
  config: { path: "/private/openclaw.json", source: "file", issues: [] },
  store: {},
};

const idle = { onEvent: () => ({ [Symbol.dispose]() {} }) } as unknown as Responder;

export interface Started extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly server: GatewayServer;
  readonly auth: OpenAuth;
  readonly store: Store;
  readonly stateDir: string;
}

export interface StartOptions {
  readonly handlers?: (hub: GatewayHub) => Handlers;
  readonly settings?: Partial<ServerSettings>;
  readonly config?: OpenClawConfig;
  readonly clock?: Clock;
  readonly stateDir?: string;
  readonly over?: Partial<GatewayDeps>;
}

/** A gateway on a free loopback port with a store of its own. */
export async function startGateway(options: StartOptions = {}): Promise<Started> {
  await using stack = new AsyncDisposableStack();
  const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), "openclaw-gateway-"));
  const store = stack.use(await openStore({ stateDir, clock: systemClock }));
  const log = silentLogger;
  const auth = openAuth();
  const settings = { port: 0, authMode: "token", ...options.settings };
  const server = stack.use(await openServer({ settings, log, stateDir, env: { PATH: process.env["PATH"] } }));
  const config = { current: options.config ?? {}, resolveSecret: async () => undefined } as unknown as GatewayDeps["config"];
  const gateway = stack.use(
    createGateway({
      server,
      config,
      store,
      auth,
      log,
      responder: idle,
      handlers: options.handlers ?? (() => ({})),
      health: () => REPORT,
      clock: options.clock ?? systemClock,
      ids: createIds(systemRandom),
      version: "1.2.3",
      platform: "linux",
      runSecret: "run-secret",
      paths: { config: "/private/openclaw.json", state: stateDir },
      ...options.over,
    }),
  );
  const kept = stack.move();
  return { gateway, server, auth, store, stateDir, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

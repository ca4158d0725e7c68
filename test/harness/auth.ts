import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { createAuth, settingsFrom, type Auth, type AuthDeps, type PairingEvent, type PeerRequest, type Revocation } from "../../src/gateway/auth/index.ts";
import { waitMs } from "../../src/gateway/auth/credentials.ts";
import type { ConnectParams } from "../../src/protocol/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";

export const TOKEN = "the-gateway-token";
export const NONCE = "5f0c0f4e-0000-4000-8000-000000000001";
export const ALL_SCOPES = { scopes: ["operator.admin"] } as const;

/** A request as sockets give it: from this machine to this machine unless stated otherwise. */
export function requestFrom(remoteAddress: string | undefined, headers: Readonly<Record<string, string>> = {}): PeerRequest {
  return { socket: { remoteAddress }, headers: { host: "127.0.0.1:18789", ...headers } };
}

export const local = (headers: Readonly<Record<string, string>> = {}): PeerRequest => requestFrom("127.0.0.1", headers);
export const remote = (ip = "203.0.113.9", headers: Readonly<Record<string, string>> = {}): PeerRequest =>
  requestFrom(ip, { host: "gw.example.com:18789", ...headers });

type Device = NonNullable<ConnectParams["device"]>;

/** A device with a real key that signs what it sends. */
export interface TestDevice {
  readonly id: string;
  readonly publicKey: string;
  readonly pem: string;
  /** Signs the params and puts itself in. `over` changes what is sent, after the signature was made. */
  sign(params: ConnectParams, options: { readonly now: number; readonly nonce?: string | undefined }, over?: Partial<Device>): ConnectParams;
}

export function createDevice(): TestDevice {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  const id = createHash("sha256").update(raw).digest("hex");
  return {
    id,
    publicKey: raw.toString("base64url"),
    pem: publicKey.export({ format: "pem", type: "spki" }),
    sign(params, { now, nonce }, over = {}) {
      const { client, role = "operator", scopes = [], auth } = params;
      const fields = [id, client.id, client.mode, role, scopes.join(","), now, auth?.token ?? ""];
      const text = nonce === undefined ? ["v1", ...fields].join("|") : ["v2", ...fields, nonce].join("|");
      const signature = sign(null, Buffer.from(text), privateKey).toString("base64url");
      return { ...params, device: { id, publicKey: raw.toString("base64url"), signature, signedAt: now, ...(nonce === undefined ? {} : { nonce }), ...over } };
    },
  };
}

export function connectParams(over: Partial<ConnectParams> = {}): ConnectParams {
  return { minProtocol: 3, maxProtocol: 3, client: { id: "cli", mode: "cli", version: "1", platform: "linux" }, ...over };
}

export interface AuthBench extends AsyncDisposable {
  readonly auth: Auth;
  readonly store: Store;
  readonly clock: ManualClock;
  readonly events: PairingEvent[];
  readonly revocations: Revocation[];
  /** Another one over the same store, as after a restart. */
  restarted(): Auth;
  /** Forgets every device, request and event so far. */
  clear(): Promise<void>;
  /** Connects with a device that signs with this connection's nonce. */
  connect(device: TestDevice | undefined, params?: Partial<ConnectParams>, request?: PeerRequest): ReturnType<Auth["admit"]>;
}

const HELD = new Set(Array.from({ length: 12 }, (_, over) => waitMs(over)));

/** Nobody advances this clock while a wrong secret from this machine is held back: such a wait is over at once. */
function unheld(clock: ManualClock): ManualClock {
  return {
    ...clock,
    after(ms, fn) {
      if (!HELD.has(ms)) return clock.after(ms, fn);
      queueMicrotask(fn);
      return { [Symbol.dispose]: () => undefined };
    },
  };
}

/** The real thing over a real store in a folder of its own; only time is ours. */
export async function createAuthBench(
  gateway: OpenClawConfig["gateway"] = { auth: { token: TOKEN } },
  over: (store: Store) => Partial<AuthDeps> = () => ({}),
): Promise<AuthBench> {
  const stateDir = mkdtempSync(join(tmpdir(), "auth-"));
  const clock = manualClock();
  const store = await openStore({ stateDir, clock });
  const build = (): Auth =>
    createAuth({
      settings: () => settingsFrom({ gateway }, {}),
      store,
      clock: unheld(clock),
      ids: createIds(systemRandom),
      random: systemRandom,
      log: silentLogger,
      resolveSecret: () => Promise.reject(new Error("no references here")),
      env: {},
      whois: () => Promise.resolve(undefined),
      ...over(store),
    });
  const auth = build();
  const events: PairingEvent[] = [];
  const revocations: Revocation[] = [];
  auth.pairing.onEvent((event) => void events.push(event));
  auth.onRevoked((revocation) => void revocations.push(revocation));
  return {
    auth,
    store,
    clock,
    events,
    revocations,
    connect(device, params = {}, request = local()) {
      const sent = connectParams({ auth: { token: TOKEN }, ...params });
      return auth.admit({ params: device ? device.sign(sent, { now: clock.now(), nonce: NONCE }) : sent, nonce: NONCE, request });
    },
    restarted: build,
    async clear() {
      const { pending, paired } = await auth.pairing.list();
      for (const { requestId } of pending) await auth.pairing.reject(requestId);
      for (const { deviceId } of paired) await auth.pairing.remove(deviceId);
      events.length = 0;
      revocations.length = 0;
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

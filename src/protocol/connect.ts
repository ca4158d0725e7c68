import type { Static } from "typebox";
import { StateVersionSchema } from "./frames.ts";
import type { Frozen } from "./method.ts";
import { HealthSchema } from "./health.ts";
import { machineFields } from "./pairing.ts";
import { amount, choice, closed, count, either, filled, flag, list, literal, map, maybe, moment, text, texts } from "./pieces.ts";
import { PresenceSchema, UpdateAvailableSchema } from "./presence.ts";

/** Programs that connect. */
const CLIENT_IDS = [
  "webchat-ui",
  "openclaw-control-ui",
  "webchat",
  "cli",
  "gateway-client",
  "openclaw-macos",
  "openclaw-ios",
  "openclaw-android",
  "node-host",
  "test",
  "fingerprint",
  "openclaw-probe",
] as const;

/** What a client is used for. */
const CLIENT_MODES = ["webchat", "cli", "ui", "backend", "node", "probe", "test"] as const;

const ClientSchema = closed({
  id: choice(CLIENT_IDS),
  displayName: maybe(filled()),
  version: filled(),
  platform: filled(),
  ...machineFields,
  mode: choice(CLIENT_MODES),
  instanceId: maybe(filled()),
});

/** The ed25519 identity of a device and its signature over the challenge. */
const DeviceSchema = closed({
  id: filled(),
  publicKey: filled(),
  signature: filled(),
  signedAt: amount(),
  nonce: maybe(filled()),
});

/** What a client says first. Closed at every level. The role is checked after the schema, for a message of its own. */
export const ConnectParamsSchema = closed({
  minProtocol: count(),
  maxProtocol: count(),
  client: ClientSchema,
  caps: maybe(list(filled())),
  commands: maybe(list(filled())),
  permissions: maybe(map(flag())),
  pathEnv: maybe(text()),
  role: maybe(filled()),
  scopes: maybe(list(filled())),
  device: maybe(DeviceSchema),
  auth: maybe(closed({ token: maybe(text()), password: maybe(text()) })),
  locale: maybe(text()),
  userAgent: maybe(text()),
});

/** What the gateway answers to a client that may come in. */
export const HelloOkSchema = closed({
  type: literal("hello-ok"),
  protocol: literal(3),
  server: closed({ version: filled(), commit: maybe(filled()), host: maybe(filled()), connId: filled() }),
  features: closed({ methods: list(filled()), events: list(filled()) }),
  snapshot: closed({
    presence: list(PresenceSchema),
    // Empty until it was looked at for the first time.
    health: either(HealthSchema, closed({})),
    stateVersion: StateVersionSchema,
    uptimeMs: amount(),
    configPath: maybe(filled()),
    stateDir: maybe(filled()),
    sessionDefaults: maybe(closed({ defaultAgentId: filled(), mainKey: filled(), mainSessionKey: filled(), scope: maybe(filled()) })),
    authMode: maybe(choice(["none", "token", "password", "trusted-proxy"])),
    updateAvailable: maybe(UpdateAvailableSchema),
  }),
  canvasHostUrl: maybe(filled()),
  auth: maybe(closed({ deviceToken: filled(), role: filled(), scopes: texts(), issuedAtMs: maybe(moment()) })),
  policy: closed({ maxPayload: count(), maxBufferedBytes: count(), tickIntervalMs: count() }),
});

export type ConnectParams = Frozen<Static<typeof ConnectParamsSchema>>;
export type ClientInfo = ConnectParams["client"];
export type HelloOk = Frozen<Static<typeof HelloOkSchema>>;

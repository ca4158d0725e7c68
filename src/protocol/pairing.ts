import { choice, closed, filled, flag, maybe, moment, text, texts } from "./pieces.ts";

const decision = choice(["approved", "rejected"]);

/** A device that asks to be let in. */
export const DevicePairRequestSchema = closed({
  requestId: filled(),
  deviceId: filled(),
  publicKey: filled(),
  displayName: maybe(text()),
  platform: maybe(text()),
  clientId: maybe(text()),
  clientMode: maybe(text()),
  role: maybe(text()),
  roles: maybe(texts()),
  scopes: maybe(texts()),
  remoteIp: maybe(text()),
  silent: maybe(flag()),
  isRepair: maybe(flag()),
  ts: moment(),
});

export const DevicePairResolvedSchema = closed({ requestId: filled(), deviceId: filled(), decision, ts: moment() });

/** What a node says about itself when it asks to be paired. */
export const nodeFields = {
  displayName: maybe(filled()),
  platform: maybe(filled()),
  version: maybe(filled()),
  coreVersion: maybe(filled()),
  uiVersion: maybe(filled()),
  deviceFamily: maybe(filled()),
  modelIdentifier: maybe(filled()),
  remoteIp: maybe(filled()),
};

export const nodeRequestFields = { nodeId: filled(), ...nodeFields, caps: maybe(texts()), commands: maybe(texts()), silent: maybe(flag()) };

/** A node that asks to be paired. */
export const NodePairRequestSchema = closed({ requestId: filled(), ...nodeRequestFields, isRepair: flag(), ts: moment() });

export const NodePairResolvedSchema = closed({ requestId: filled(), nodeId: filled(), decision, ts: moment() });

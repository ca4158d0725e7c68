import { choice, closed, effect, filled, flag, maybe, moment, text, texts } from "./pieces.ts";

const decision = choice(["approved", "rejected"]);

/** Identifies the request to decide about. */
export const DecideParamsSchema = effect({ requestId: filled() });

/** What is known of a device, whether it waits or is in. */
export const deviceFields = {
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
};

/** When a device or node asked first, and when it was let in. */
export const pairedFields = { createdAtMs: moment(), approvedAtMs: moment() };

/** A device that asks to be let in. */
export const DevicePairRequestSchema = closed({
  requestId: filled(),
  ...deviceFields,
  /** Of a node: what it offers. It may offer something else once it is paired. */
  caps: maybe(texts()),
  commands: maybe(texts()),
  silent: maybe(flag()),
  isRepair: maybe(flag()),
  ts: moment(),
});

export const DevicePairResolvedSchema = closed({ requestId: filled(), deviceId: filled(), decision, ts: moment() });

/** What kind of machine a client or node runs on. */
export const machineFields = { deviceFamily: maybe(filled()), modelIdentifier: maybe(filled()) };

/** What a node says about itself when it asks to be paired. */
export const nodeFields = {
  displayName: maybe(filled()),
  platform: maybe(filled()),
  version: maybe(filled()),
  coreVersion: maybe(filled()),
  uiVersion: maybe(filled()),
  ...machineFields,
  remoteIp: maybe(filled()),
};

export const nodeRequestFields = { nodeId: filled(), ...nodeFields, caps: maybe(texts()), commands: maybe(texts()), silent: maybe(flag()) };

/** A node that asks to be paired. */
export const NodePairRequestSchema = closed({ requestId: filled(), ...nodeRequestFields, isRepair: flag(), ts: moment() });

export const NodePairResolvedSchema = closed({ requestId: filled(), nodeId: filled(), decision, ts: moment() });

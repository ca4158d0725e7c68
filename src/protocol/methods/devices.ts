import { method } from "../method.ts";
import { DecideParamsSchema, deviceFields, DevicePairRequestSchema, pairedFields } from "../pairing.ts";
import { closed, effect, filled, list, maybe, moment, none, texts } from "../pieces.ts";

const Token = closed({
  role: filled(),
  scopes: texts(),
  createdAtMs: moment(),
  rotatedAtMs: maybe(moment()),
  revokedAtMs: maybe(moment()),
  lastUsedAtMs: maybe(moment()),
});

const Device = closed({ ...deviceFields, ...pairedFields, tokens: maybe(list(Token)) });

/** Devices that may connect, and their tokens. */
export const devicesMethods = {
  "device.pair.list": method({
    access: "operator.pairing",
    params: none(),
    result: closed({ pending: list(DevicePairRequestSchema), paired: list(Device) }),
    effect: false,
    module: "gateway",
    summary: "Lists pending and paired devices. Tokens are never shown.",
  }),
  "device.pair.approve": method({
    access: "operator.pairing",
    params: DecideParamsSchema,
    result: closed({ requestId: filled(), device: Device }),
    effect: true,
    module: "gateway",
    summary: "Approves a pending device.",
  }),
  "device.pair.reject": method({
    access: "operator.pairing",
    params: DecideParamsSchema,
    result: closed({ requestId: filled(), deviceId: filled() }),
    effect: true,
    module: "gateway",
    summary: "Rejects a pending device.",
  }),
  "device.pair.remove": method({
    access: "operator.pairing",
    params: effect({ deviceId: filled() }),
    result: closed({ deviceId: filled() }),
    effect: true,
    module: "gateway",
    summary: "Removes a device and its tokens; its connections are closed.",
  }),
  "device.token.rotate": method({
    access: "operator.pairing",
    params: effect({ deviceId: filled(), role: filled(), scopes: maybe(list(filled())) }),
    result: closed({ deviceId: filled(), role: filled(), token: filled(), scopes: texts(), rotatedAtMs: moment() }),
    effect: true,
    module: "gateway",
    summary: "Issues a new token of a device for a role. The old token is revoked and its connections are closed.",
  }),
  "device.token.revoke": method({
    access: "operator.pairing",
    params: effect({ deviceId: filled(), role: filled() }),
    result: closed({ deviceId: filled(), role: filled(), revokedAtMs: moment() }),
    effect: true,
    module: "gateway",
    summary: "Revokes a device's token for a role and closes its connections.",
  }),
};

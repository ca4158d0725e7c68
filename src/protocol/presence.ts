import type { Static } from "typebox";
import type { Frozen } from "./method.ts";
import { amount, closed, filled, maybe, moment, text, texts } from "./pieces.ts";

/** Fields of a presence entry that a client may tell about itself with `system-event`. */
export const presenceFields = {
  host: maybe(text()),
  ip: maybe(text()),
  version: maybe(text()),
  platform: maybe(text()),
  deviceFamily: maybe(text()),
  modelIdentifier: maybe(text()),
  mode: maybe(text()),
  lastInputSeconds: maybe(amount()),
  reason: maybe(text()),
  tags: maybe(texts()),
  deviceId: maybe(text()),
  roles: maybe(texts()),
  scopes: maybe(texts()),
  instanceId: maybe(text()),
};

/** One program that is or was connected a short time ago, or the gateway itself. */
export const PresenceSchema = closed({ ...presenceFields, text: maybe(text()), ts: moment() });

/** A newer version than the running one. */
export const UpdateAvailableSchema = closed({ currentVersion: filled(), latestVersion: filled(), channel: filled() });

export type Presence = Frozen<Static<typeof PresenceSchema>>;

/** Version of the wire contract. A client connects when its `[minProtocol, maxProtocol]` holds it. */
export const PROTOCOL_VERSION = 3;

/** Bounds that both sides of a connection keep to. Sizes in bytes, times in milliseconds. */
export const LIMITS = {
  /** Largest frame; a larger one closes the connection with 1009. */
  maxPayload: 26_214_400,
  /** Bytes that may wait for a slow reader. */
  maxBufferedBytes: 52_428_800,
  /** Time between two `tick` events. A client that misses two of them gives the connection up. */
  tickIntervalMs: 30_000,
  /** Time for a client to get from the challenge to `hello-ok`. */
  handshakeMs: 10_000,
  /** Time after which a client that saw no challenge sends `connect` without a nonce. */
  challengeWaitMs: 750,
  /** How far `device.signedAt` may be off. */
  signatureSkewMs: 600_000,
  /** How long a request to pair waits for an answer. */
  pairingTtlMs: 300_000,
  /** Bytes of a close reason. */
  closeReasonBytes: 120,
} as const;

/** Codes that end a WebSocket connection. */
export const CLOSE = {
  normal: 1000,
  protocolMismatch: 1002,
  /** Refused, or `slow consumer`. */
  policy: 1008,
  tooLarge: 1009,
  /** Stop or restart. */
  restart: 1012,
  /** Client side: no tick came. */
  tickTimeout: 4000,
  /** Client side: the handshake failed. */
  connectFailed: 4008,
} as const;

/** Codes of an error in a response. `NOT_LINKED` and `AGENT_TIMEOUT` are reserved: they are declared and never sent. */
export const PROTOCOL_ERROR_CODES = ["INVALID_REQUEST", "UNAVAILABLE", "NOT_PAIRED", "NOT_LINKED", "AGENT_TIMEOUT"] as const;
export type ProtocolErrorCode = (typeof PROTOCOL_ERROR_CODES)[number];

import { EVENTS, LIMITS, PROTOCOL_VERSION, type HelloOk } from "../../protocol/index.ts";
import type { Admitted } from "../auth/index.ts";

/** What `hello-ok` tells besides who connected. */
export interface HelloFacts {
  readonly version: string;
  readonly host: string;
  readonly methods: readonly string[];
  /** Resolves when a snapshot can be taken. */
  prepare(): Promise<void>;
  snapshot(): HelloOk["snapshot"];
}

/** Names of all events, as `hello-ok` lists them. */
const EVENT_NAMES = Object.keys(EVENTS);

export function helloFor(connId: string, { issued }: Admitted, facts: HelloFacts): HelloOk {
  return {
    type: "hello-ok",
    protocol: PROTOCOL_VERSION,
    server: { version: facts.version, host: facts.host, connId },
    features: { methods: facts.methods, events: EVENT_NAMES },
    snapshot: facts.snapshot(),
    ...(issued ? { auth: { deviceToken: issued.deviceToken, role: issued.role, scopes: issued.scopes, issuedAtMs: issued.issuedAtMs } } : {}),
    policy: { maxPayload: LIMITS.maxPayload, maxBufferedBytes: LIMITS.maxBufferedBytes, tickIntervalMs: LIMITS.tickIntervalMs },
  };
}

import type { IncomingMessage } from "node:http";
import type { ConnectParams, Role } from "../../protocol/index.ts";
import type { NodePairing } from "./devices/nodes.ts";
import type { Pairing } from "./devices/pairing.ts";
import type { Login } from "./login/login.ts";
import type { Peer, PeerRequest } from "./peer/peer.ts";
import type { Revocation } from "./revocation.ts";
import type { AuthMode, AuthSettings } from "./settings.ts";

/** How a connection proved itself. */
export type AuthMethod = "none" | "token" | "password" | "run-secret" | "trusted-proxy" | "tailscale" | "device-token";

export interface Credentials {
  readonly token?: string | undefined;
  readonly password?: string | undefined;
}

/** Why a secret was refused. */
export type SecretFailure =
  | "token_missing"
  | "token_mismatch"
  | "token_missing_config"
  | "password_missing"
  | "password_mismatch"
  | "password_missing_config"
  | "device_token_mismatch"
  | "rate_limited"
  | "unauthorized";

export type SecretVerdict =
  | { readonly ok: true; readonly method: AuthMethod; /** Of a proxy or Tailscale. */ readonly user?: string }
  | {
      readonly ok: false;
      readonly reason: SecretFailure;
      readonly retryAfterMs?: number;
      /** A token was shown by a device that has none: `reason` is about the shared secret. */
      readonly notPaired?: true;
    };

/** A request that was refused before anything was read from its body. */
export type BearerVerdict =
  | { readonly ok: true; readonly method: AuthMethod; readonly peer: Peer; readonly user?: string }
  | { readonly ok: false; readonly status: 401 | 403 | 429; readonly message: string; readonly peer: Peer; readonly retryAfterMs?: number };

/** A token as `hello-ok` hands it out. */
export interface IssuedToken {
  readonly deviceToken: string;
  readonly role: Role;
  /** Granted to the connection; those of the token may be more. */
  readonly scopes: readonly string[];
  readonly issuedAtMs: number;
}

export interface Admitted {
  readonly ok: true;
  readonly role: Role;
  /** Granted: a part of what was asked for and of what was approved. */
  readonly scopes: ReadonlySet<string>;
  readonly method: AuthMethod;
  readonly peer: Peer;
  readonly deviceId?: string;
  /** For `auth` of `hello-ok`; there when a device was given. */
  readonly issued?: IssuedToken;
}

export interface Refused {
  readonly ok: false;
  readonly code: "INVALID_REQUEST" | "NOT_PAIRED";
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly closeCode: 1008;
}

export type Admission = Admitted | Refused;

export interface AdmitInput {
  /** Already checked against the schema and the protocol version (checks 1 to 5). */
  readonly params: ConnectParams;
  /** Of this connection's challenge. */
  readonly nonce: string;
  /** The upgrade request. */
  readonly request: PeerRequest;
}

export type HostVerdict = { readonly ok: true } | { readonly ok: false; readonly status: 403; readonly message: string };

/** Who may connect, and as what. */
export interface Auth {
  /** Checks 6 to 17 of the handshake, in their order. */
  admit(input: AdmitInput): Promise<Admission>;
  /** Checks the `Authorization: Bearer` header of an HTTP request, its Host and its Origin. Device tokens do not count here. */
  bearer(request: IncomingMessage): Promise<BearerVerdict>;
  /** Compares a shared secret. Failures count against the peer's budget, whatever form they have. `request` is needed where headers prove the user. */
  checkSecret(credentials: Credentials, peer: Peer, request?: PeerRequest): Promise<SecretVerdict>;
  peerOf(request: PeerRequest): Peer;
  /** Refuses a Host that a foreign page can have pointed at this machine. To be asked before anything else, for requests and upgrades. */
  checkHost(request: PeerRequest): HostVerdict;
  /** The same for an upgrade, with its Origin: a page that may not connect gets no socket. */
  checkUpgrade(request: PeerRequest): HostVerdict;
  /** The Origin rule of the handshake, also for other programs that send one: undefined when it passes, else the message. */
  checkOrigin(request: PeerRequest, client: { readonly id: string; readonly mode: string }): string | undefined;
  /** Called when credentials of open sockets are no longer valid; `isRevoked` says which sockets. */
  onRevoked(listener: (revocation: Revocation) => void): Disposable;
  /** Takes changed settings; resolves when their secrets are known. Sockets that used another shared secret are revoked. */
  update(settings?: AuthSettings): Promise<void>;
  /** For `authMode` of `hello-ok`. */
  readonly mode: AuthMode;
  readonly pairing: Pairing;
  readonly nodes: NodePairing;
  readonly login: Login;
}

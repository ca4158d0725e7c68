import { AppError } from "../../../base/errors.ts";
import type { Role } from "../../../protocol/index.ts";
import type { Attempts } from "../credentials.ts";
import { deviceKey } from "../devices/identity.ts";
import type { Pairing } from "../devices/pairing.ts";
import type { Peer, PeerRequest } from "../peer/peer.ts";
import type { LoginCode, LoginCodes } from "./codes.ts";

/** What a browser shows, as it came. */
export interface LoginAttempt {
  readonly code: unknown;
  readonly device: unknown;
}

export type LoginVerdict =
  | { readonly ok: true; readonly role: Role; readonly scopes: readonly string[]; readonly deviceToken: string }
  | { readonly ok: false; readonly status: 400 | 401 | 429; readonly message: string; readonly retryAfterMs?: number };

/** Lets browsers in by links that work once. */
export interface Login {
  /** A code that is good once, for ten minutes. */
  code(by?: { readonly deviceId?: string | undefined }): LoginCode;
  /**
   * Trades a code for the token of a device, which is an operator with all scopes from then on. Wrong codes count against the peer's budget. A code is
   * used up only by an attempt that has everything else right.
   */
  redeem(request: PeerRequest, attempt: LoginAttempt): Promise<LoginVerdict>;
}

export interface LoginDeps {
  readonly codes: LoginCodes;
  readonly attempts: Attempts;
  readonly pairing: Pick<Pairing, "enter">;
  readonly peerOf: (request: PeerRequest) => Peer;
}

/** What the Control UI asks for when it connects. */
const LOGIN_SCOPES = ["operator.admin", "operator.approvals", "operator.pairing"];

const NEEDS_DEVICE =
  "a login link needs the browser's key as device: {id, publicKey}, which browsers create only on secure pages: open the page over HTTPS or at http://localhost";

const refused = (status: 400 | 401, message: string): LoginVerdict => ({ ok: false, status, message });

export function createLogin({ codes, attempts, pairing, peerOf }: LoginDeps): Login {
  return {
    code: codes.make,
    async redeem(request, { code, device }) {
      const peer = peerOf(request);
      const retryAfterMs = attempts.lockedFor(peer);
      if (retryAfterMs !== undefined) return { ok: false, status: 429, message: "Too many failed attempts; try again later", retryAfterMs };
      if (typeof code !== "string" || code === "") return refused(400, "code is missing: expected the part after #code= of a login link");
      if (device === undefined || device === null) return refused(400, NEEDS_DEVICE);
      const known = deviceKey(device);
      if (!known) return refused(400, "device is invalid: expected publicKey as a raw ed25519 key in base64url, and id as its SHA-256 in hex");
      await attempts.pace(peer);
      if (!codes.take(code)) {
        attempts.fail(peer);
        return refused(401, "this login link was already used or has expired; get a new one with: openclaw dashboard");
      }
      const info = { clientId: "openclaw-control-ui", clientMode: "webchat", platform: "web", remoteIp: peer.ip };
      // Creating the code was the approval, as presence on this machine is for local users.
      const entry = await pairing.enter({ ...known, info, role: "operator", scopes: LOGIN_SCOPES, local: true });
      if (!entry.ok) throw new AppError("INTERNAL", "a device that signed in with a code must be approved");
      return { ok: true, role: entry.issued.role, scopes: LOGIN_SCOPES, deviceToken: entry.issued.deviceToken };
    },
  };
}

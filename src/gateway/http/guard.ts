import type { IncomingMessage } from "node:http";
import type { Auth } from "../auth/index.ts";
import { equalSecrets } from "../../base/equal-secrets.ts";
import { bearerOf } from "./bearer.ts";
import type { ApiError } from "./reply.ts";
import type { RouteAuth } from "./route.ts";

/** The part of the gateway's auth that HTTP needs. */
export type HttpAuth = Pick<Auth, "bearer" | "peerOf" | "checkHost" | "checkOrigin" | "login">;

export type GuardVerdict =
  | { readonly ok: true; readonly trusted: boolean }
  | { readonly ok: false; readonly error: ApiError; readonly retryAfterMs?: number | undefined };

export interface GuardDeps {
  readonly auth: HttpAuth;
  readonly hooks: { check(request: IncomingMessage, query: URLSearchParams, path: string): Promise<GuardVerdict> };
  readonly runSecret: string;
  /** Whether a canvas URL carries a valid capability. */
  readonly canvas?: { isAllowed(path: string, query: URLSearchParams): boolean } | undefined;
}

const UNAUTHORIZED: ApiError = { status: 401, message: "Unauthorized", type: "unauthorized" };
const RATE_LIMITED: ApiError = { status: 429, message: "Too many failed authentication attempts. Please try again later.", type: "rate_limited" };

/** Decides from the request's headers alone: the body of an unauthorized request is never read. */
export type Guard = (auth: RouteAuth, request: IncomingMessage, query: URLSearchParams, path: string) => Promise<GuardVerdict>;

export function createGuard({ auth, hooks, runSecret, canvas }: GuardDeps): Guard {
  async function checkBearer(request: IncomingMessage): Promise<GuardVerdict> {
    const verdict = await auth.bearer(request);
    if (verdict.ok) return { ok: true, trusted: true };
    if (verdict.status === 429) return { ok: false, error: RATE_LIMITED, retryAfterMs: verdict.retryAfterMs };
    if (verdict.status === 403) return { ok: false, error: { status: 403, message: verdict.message, type: "forbidden" } };
    return { ok: false, error: UNAUTHORIZED };
  }

  const open: GuardVerdict = { ok: true, trusted: false };
  const checks: Readonly<Record<RouteAuth, (request: IncomingMessage, query: URLSearchParams, path: string) => GuardVerdict | Promise<GuardVerdict>>> = {
    public: () => open,
    own: () => open,
    "run-secret-detail": (request) => ({ ok: true, trusted: equalSecrets(bearerOf(request) ?? "", runSecret) }),
    "hook-token": (request, query, path) => hooks.check(request, query, path),
    canvas: (request, query, path) => (canvas?.isAllowed(path, query) ? { ok: true, trusted: true } : checkBearer(request)),
    bearer: checkBearer,
  };
  return async (kind, request, query, path) => checks[kind](request, query, path);
}

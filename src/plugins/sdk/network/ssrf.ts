/** Which hosts a plugin may be sent to by text that came from outside. */
import type { lookup } from "node:dns/promises";
import { AppError } from "../../../base/errors.ts";
import { assertHostAllowed, isInternalName, isPrivateAddress } from "../../../base/host-rules.ts";

/** `dns.promises.lookup` or something like it. */
export type LookupFn = typeof lookup;

export interface SsrFPolicy {
  /** Private addresses may be reached. */
  allowPrivateNetwork?: boolean | undefined;
  /** Hosts that may be reached wherever they lead. */
  allowedHostnames?: string[] | undefined;
  /** If there are any, only these: names, or `*.domain`. */
  hostnameAllowlist?: string[] | undefined;
}

/** The request would have gone where it may not. */
export class SsrFBlockedError extends Error {
  override readonly name = "SsrFBlockedError";
}

/** A refusal of the guard in the class that plugins know; anything else as it is. */
export function refusalOf(error: unknown): unknown {
  return error instanceof AppError && error.code === "HOST_BLOCKED" ? new SsrFBlockedError(error.message, { cause: error }) : error;
}

/** Loopback, private, link-local and reserved addresses, and everything that only looks like an address (`127.1`, `0x7f000001`). */
export function isPrivateIpAddress(address: string): boolean {
  return isPrivateAddress(address);
}

/** Names of this machine, its network and the metadata services of clouds. */
export function isBlockedHostname(hostname: string): boolean {
  return isInternalName(hostname);
}

export function isBlockedHostnameOrIp(hostname: string): boolean {
  return isBlockedHostname(hostname) || isPrivateIpAddress(hostname);
}

/** Throws {@link SsrFBlockedError} when `hostname`, or one of the addresses it stands for, may not be reached. */
export function assertReachable(hostname: string, addresses: readonly string[], policy: SsrFPolicy = {}): void {
  try {
    assertHostAllowed(hostname, addresses, policy);
  } catch (error) {
    throw refusalOf(error);
  }
}

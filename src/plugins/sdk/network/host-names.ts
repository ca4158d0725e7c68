/** Hosts by name and address, beyond what a plain request needs. */
import { isIP } from "node:net";
import { assertReachable, isPrivateIpAddress, type LookupFn, SsrFBlockedError, type SsrFPolicy } from "./ssrf.ts";

const bare = (host: string): string =>
  host
    .trim()
    .toLowerCase()
    .replaceAll(/^\[|\]$/g, "")
    .replace(/\.$/, "");

export function isLoopbackHost(hostname: string): boolean {
  const host = bare(hostname);
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host) || host.startsWith("::ffff:127.");
}

export const isPrivateOrLoopbackHost = (hostname: string): boolean =>
  isLoopbackHost(hostname) || (isIP(bare(hostname)) > 0 && isPrivateIpAddress(bare(hostname)));

/** The addresses of a host that the policy lets through; throws {@link SsrFBlockedError} where it does not. */
export async function resolvePinnedHostnameWithPolicy(
  hostname: string,
  options: { readonly policy?: SsrFPolicy | undefined; readonly lookupFn?: LookupFn | undefined } = {},
): Promise<{ hostname: string; addresses: string[] }> {
  const host = bare(hostname);
  const lookup = options.lookupFn ?? (await import("node:dns/promises")).lookup;
  const found = isIP(host) > 0 ? [{ address: host }] : await lookup(host, { all: true, verbatim: true });
  const addresses = [found].flat().map((entry) => entry.address);
  if (addresses.length === 0) throw new SsrFBlockedError(`${host} has no address`);
  assertReachable(host, addresses, options.policy);
  return { hostname: host, addresses };
}

/** `*.Example.com`, `.example.com` and `example.com` mean the domain and what is below it. `*` means all. */
export const normalizeHostnameSuffixAllowlist = (list?: readonly string[], defaults: readonly string[] = []): string[] => {
  const names = (list?.length ? list : defaults).map((entry) => bare(entry).replace(/^\*?\./, "")).filter(Boolean);
  return names.includes("*") ? ["*"] : [...new Set(names)];
};

export function isHttpsUrlAllowedByHostnameSuffixAllowlist(url: string, allowlist: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:") return false;
  const host = bare(hostname);
  return allowlist.includes("*") || allowlist.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}

/** The same as a policy for guarded requests; undefined where everything public is allowed. */
export function buildHostnameAllowlistPolicyFromSuffixAllowlist(allowlist?: readonly string[]): SsrFPolicy | undefined {
  const names = normalizeHostnameSuffixAllowlist(allowlist);
  return names.length === 0 || names.includes("*") ? undefined : { hostnameAllowlist: names.flatMap((name) => [name, `*.${name}`]) };
}

/** A service that the operator named may be reached wherever it stands. */
export const ssrfPolicyFromHttpBaseUrlAllowedHostname = (baseUrl?: string): SsrFPolicy | undefined =>
  baseUrl && URL.canParse(baseUrl) ? { allowedHostnames: [new URL(baseUrl).hostname] } : undefined;
export const ssrfPolicyFromAllowPrivateNetwork = (allowed?: boolean): SsrFPolicy | undefined => (allowed ? { allowPrivateNetwork: true } : undefined);

/** Hosts outside `browser.ssrfPolicy.hostnameAllowlist` that the owner allowed for a session, until this process exits. */
import { bareHost, isListedHost, type HostPolicy } from "../base/host-rules.ts";

const MAX_HOSTS = 1000;

export interface HostConsent {
  /** The URL's host, if it is not on the allowlist and not yet allowed for this session. */
  unlistedHost(session: string, written: string): string | undefined;
  /** Allows a session to open a host. All other rules of the policy still apply. */
  allow(session: string, host: string): void;
  /** The policy plus the hosts allowed in any session, because sessions share a browser. */
  widened(policy: HostPolicy): HostPolicy;
}

export function createHostConsent(configured: () => HostPolicy): HostConsent {
  const allowed = new Map<string, Set<string>>();
  return {
    unlistedHost(session, written) {
      const policy = configured();
      const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `https://${written}`;
      if (!policy.hostnameAllowlist?.length || !URL.canParse(text)) return undefined;
      const { protocol, hostname } = new URL(text);
      const host = bareHost(hostname);
      if (!/^https?:$/.test(protocol) || isListedHost(host, policy) || allowed.get(host)?.has(session)) return undefined;
      return host;
    },
    allow(session, host) {
      const sessions = allowed.get(host) ?? new Set();
      sessions.add(session);
      allowed.delete(host);
      allowed.set(host, sessions);
      const [oldest] = allowed.keys();
      if (allowed.size > MAX_HOSTS && oldest !== undefined) allowed.delete(oldest);
    },
    widened: (policy) =>
      allowed.size === 0 || !policy.hostnameAllowlist?.length ? policy : { ...policy, hostnameAllowlist: [...policy.hostnameAllowlist, ...allowed.keys()] },
  };
}

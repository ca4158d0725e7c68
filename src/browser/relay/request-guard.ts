/** Asks the policy about each request of a shared tab, with its frames and workers, and about each redirect. */
import { AppError, messageOf } from "../../base/errors.ts";
import { checkedAddresses, type AddressLookup } from "../../base/guarded-fetch.ts";
import type { HostPolicy } from "../../base/host-rules.ts";
import type { Clock } from "../../base/clock.ts";
import { isRecord } from "../../base/records.ts";
import type { Refusal } from "../guard-proxy.ts";

export interface RequestGuardDeps {
  readonly policy: () => HostPolicy;
  readonly lookup?: AddressLookup | undefined;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Sends a command to where the request is held. */
export type Send = (method: string, params: object) => void;

export interface RequestGuard {
  /** Has requests held until they are checked. */
  begin(send: Send): void;
  /** A request that is held. */
  check(paused: Readonly<Record<string, unknown>>, send: Send): void;
  refused(): number;
  refusals(since: number): readonly Refusal[];
}

const MAX_REFUSALS = 50;
const MAX_HOSTS = 500;
/** How long an answer about a host is used: a page asks for many things of the same one. */
const FRESH_MS = 5000;
const HELD = ["http://*", "https://*", "file://*", "ftp://*"];

interface Known {
  readonly at: number;
  readonly policy: HostPolicy;
  /** Why it is refused. */
  readonly refusal: Promise<string | undefined>;
}

export function createRequestGuard({ policy, lookup, clock }: RequestGuardDeps): RequestGuard {
  const hosts = new Map<string, Known>();
  const found: Refusal[] = [];
  let count = 0;

  async function refusalOf(host: string, now: HostPolicy): Promise<string | undefined> {
    try {
      await checkedAddresses(host, now, lookup);
      return undefined;
    } catch (error) {
      // A name that is not known here may be known to the browser: nobody can say where it leads.
      return error instanceof AppError ? messageOf(error) : `${host} was not found`;
    }
  }

  function ask(host: string): Promise<string | undefined> {
    const [known, now] = [hosts.get(host), policy()];
    if (known && clock.monotonic() - known.at < FRESH_MS && JSON.stringify(known.policy) === JSON.stringify(now)) return known.refusal;
    const refusal = refusalOf(host, now);
    hosts.delete(host);
    hosts.set(host, { at: clock.monotonic(), policy: now, refusal });
    const [oldest] = hosts.keys();
    if (hosts.size > MAX_HOSTS && oldest !== undefined) hosts.delete(oldest);
    return refusal;
  }

  function refuse(host: string, why: string): void {
    count += 1;
    found.push({ host: host.slice(0, 200), why, order: count });
    if (found.length > MAX_REFUSALS) found.shift();
  }

  return {
    begin: (send) => send("Fetch.enable", { patterns: HELD.map((urlPattern) => ({ urlPattern, requestStage: "Request" })) }),
    check({ requestId, request }, send) {
      if (typeof requestId !== "string") return;
      const written = isRecord(request) && typeof request["url"] === "string" ? request["url"] : "";
      const url = URL.canParse(written) ? new URL(written) : undefined;
      const isWeb = url !== undefined && /^https?:$/.test(url.protocol);
      const answer = isWeb ? ask(url.hostname) : Promise.resolve("only http and https addresses are opened");
      void answer.then((why) => {
        if (why === undefined) return send("Fetch.continueRequest", { requestId });
        refuse(url?.hostname ?? "", why);
        return send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
      });
    },
    refused: () => count,
    refusals: (since) => found.filter(({ order }) => order > since),
  };
}

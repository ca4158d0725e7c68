/** Tabs of the user's own Chrome as a browser: waits for the extension, then has the driver use its tabs. */
import type { AddressLookup } from "../../base/guarded-fetch.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { HostPolicy } from "../../base/host-rules.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Running } from "../launch.ts";
import { createCdpTransport, type CdpTransport } from "./cdp-transport.ts";
import { openRelayServer, type RelayServer } from "./relay-server.ts";
import { createRequestGuard } from "./request-guard.ts";
import { relaySecret } from "./secret.ts";

export interface RelayDeps {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Pick<Logger, "warn">;
  readonly stateDir: string;
  readonly policy: () => HostPolicy;
  readonly lookup?: AddressLookup | undefined;
}

/** The listeners of all relay profiles, each begun with its first use. */
export interface Relays extends AsyncDisposable {
  /** Connects the driver to the tabs that are shared at a port. */
  connect(profile: string, port: number): Promise<Running>;
}

/** The extension tries every two seconds. */
const WAIT_MS = 5000;
const CONNECT_MS = 10_000;
const PAGES_MS = 3000;
const POLL_MS = 50;

const noExtension = (port: number): AppError =>
  new AppError(
    "UNAVAILABLE",
    `no tab of Chrome is shared: the OpenClaw extension did not connect to port ${port} within ${WAIT_MS / 1000} seconds. Ask the user to click its button in the tab to use (to install it: openclaw browser extension install)`,
  );

/** A tab that hangs is there later, or never; the others are not held up. */
async function pagesThere(clock: Clock, running: Pick<Running, "context">, transport: CdpTransport): Promise<void> {
  const end = clock.monotonic() + PAGES_MS;
  while (running.context.pages().length < transport.count() && clock.monotonic() < end) {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = clock.after(POLL_MS, resolve);
    await promise;
  }
}

export function createRelays({ clock, ids, log, stateDir, policy, lookup }: RelayDeps): Relays {
  const servers = new Map<number, Promise<RelayServer>>();

  async function serverAt(port: number): Promise<RelayServer> {
    const found = servers.get(port) ?? openRelayServer({ clock, ids, log, port, secret: relaySecret(stateDir, ids) });
    servers.set(port, found);
    found.catch(() => servers.delete(port));
    return found;
  }

  return {
    async connect(profile, port) {
      const server = await serverAt(port);
      if (!(await server.connected(WAIT_MS))) throw noExtension(port);
      const guard = createRequestGuard({ policy, lookup, clock });
      const transport = createCdpTransport(server, guard, clock);
      if (!transport) throw new AppError("UNAVAILABLE", `another profile uses the tabs shared at port ${port}: stop it first, or use it instead of ${profile}`);
      try {
        const { chromium } = await import("playwright-core");
        const browser = await chromium.connectOverCDP(transport, { noDefaults: true, timeout: CONNECT_MS });
        const [context] = browser.contexts();
        if (!context) throw new AppError("UNAVAILABLE", "the driver found no window in Chrome");
        const gone = new AbortController();
        browser.once("disconnected", () => gone.abort());
        await transport.attachAll();
        await pagesThere(clock, { context }, transport);
        return {
          context,
          gone: gone.signal,
          refused: guard.refused,
          refusals: guard.refusals,
          async close() {
            // Chrome goes on, and so do its tabs.
            transport.close();
            await browser.close().catch(() => undefined);
          },
        };
      } catch (error) {
        transport.close();
        if (error instanceof AppError) throw error;
        throw new AppError("UNAVAILABLE", `the tabs shared at port ${port} cannot be used: share them again`, { cause: error });
      }
    },
    async [Symbol.asyncDispose]() {
      const open = await Promise.allSettled(servers.values());
      servers.clear();
      await Promise.all(open.flatMap((one) => (one.status === "fulfilled" ? [one.value[Symbol.asyncDispose]()] : [])));
    },
  };
}

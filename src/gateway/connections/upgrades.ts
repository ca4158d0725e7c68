import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket, WebSocketServer } from "ws";
import type { Logger } from "../../base/log/logger.ts";
import { refuseUpgrade } from "../server.ts";

/** Admits a few new connections per turn of the event loop, so that open ones are served in between. */
interface UpgradeLimiter {
  /** Calls `enter` now, or in one of the next turns when many came at once. In the order of arrival. `enter` does not throw. */
  pass(enter: () => void): void;
}

export function createUpgradeLimiter(perTurn: number): UpgradeLimiter {
  let waiting: (() => void)[] = [];
  let left = perTurn;
  let planned = false;

  function plan(): void {
    if (planned) return;
    planned = true;
    setImmediate(turn);
  }

  function turn(): void {
    planned = false;
    const now = waiting.slice(0, perTurn);
    waiting = waiting.slice(perTurn);
    left = perTurn - now.length;
    if (now.length > 0) plan();
    for (const enter of now) enter();
  }

  return {
    pass(enter) {
      plan();
      if (left === 0) {
        waiting.push(enter);
        return;
      }
      left -= 1;
      enter();
    },
  };
}

export type TakeUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

export interface UpgradesDeps {
  /** Undefined until it is loaded. */
  readonly server: () => WebSocketServer | undefined;
  readonly loadServer: () => Promise<WebSocketServer>;
  readonly isClosed: () => boolean;
  readonly accept: (ws: WebSocket, request: IncomingMessage, socket: Socket) => void;
  readonly log: Logger;
}

/** Versions of the protocol that are spoken: 8 has the frames of 13. */
const VERSIONS: ReadonlySet<string> = new Set(["13", "8"]);
const OTHER_VERSION = { upgrade: "websocket", "sec-websocket-version": "13" };
/** An upgrade takes about a tenth of a millisecond. */
const UPGRADES_PER_TURN = 4;

/** Turns upgrade requests into WebSockets. */
export function createUpgrades({ server, loadServer, isClosed, accept, log }: UpgradesDeps): TakeUpgrade {
  const limiter = createUpgradeLimiter(UPGRADES_PER_TURN);

  function enter(to: WebSocketServer, request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (isClosed() || socket.destroyed) return void socket.destroy();
    // The answer to the upgrade and the challenge leave in one write.
    socket.cork();
    to.handleUpgrade(request, socket, head, (ws) => accept(ws, request, socket));
    socket.uncork();
  }

  async function enterLate(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    enter(await loadServer(), request, socket, head);
  }

  return (request, socket, head) => {
    const version = request.headers["sec-websocket-version"];
    if (version !== undefined && !VERSIONS.has(version))
      return refuseUpgrade(socket, 426, "this gateway supports only version 13 of the WebSocket protocol", OTHER_VERSION);
    const onError = (error: unknown): void => {
      log.error("a WebSocket connection could not be accepted", { error });
      socket.destroy();
    };
    limiter.pass(() => {
      const ready = server();
      try {
        if (ready) enter(ready, request, socket, head);
        else enterLate(request, socket, head).catch(onError);
      } catch (error) {
        onError(error);
      }
    });
  };
}

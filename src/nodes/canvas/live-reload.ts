import { watch, type FSWatcher } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";

export interface LiveReloadDeps {
  readonly root: () => string;
  readonly clock: Pick<Clock, "after">;
  readonly log: Logger;
}

/** Has pages reload when files of the canvas change. Files are watched while a page is there. */
export interface LiveReload extends Disposable {
  /** Takes the socket of an authorised upgrade. `renew` is asked now and then: false ends it. */
  take(request: IncomingMessage, socket: Socket, head: Buffer, renew: () => boolean): void;
}

const MOST_SOCKETS = 200;
/** A file that is written in parts is reported several times. */
const SETTLE_MS = 80;
const RENEW_MS = 4 * 60_000;

export function createLiveReload({ root, clock, log }: LiveReloadDeps): LiveReload {
  const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload: 1024 });
  const sockets = new Map<WebSocket, () => boolean>();
  let watcher: FSWatcher | undefined;
  let settling: Disposable | undefined;
  let renewing: Disposable | undefined;

  function announce(): void {
    settling = undefined;
    for (const socket of sockets.keys()) socket.send("reload");
  }
  function renew(): void {
    for (const [socket, isValid] of sockets) if (!isValid()) socket.close(1008, "the canvas of this connection is closed");
    renewing = sockets.size > 0 ? clock.after(RENEW_MS, renew) : undefined;
  }
  async function start(): Promise<void> {
    const folder = root();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (watcher || sockets.size === 0) return;
    watcher = watch(folder, { recursive: true }, () => (settling ??= clock.after(SETTLE_MS, announce)));
    watcher.on("error", (error) => log.warn(`files of the canvas are no longer watched: ${messageOf(error)}`));
  }
  function stop(): void {
    watcher?.close();
    settling?.[Symbol.dispose]();
    renewing?.[Symbol.dispose]();
    watcher = settling = renewing = undefined;
  }

  return {
    take(request, socket, head, isValid) {
      if (sockets.size >= MOST_SOCKETS) {
        socket.destroy();
        return;
      }
      server.handleUpgrade(request, socket, head, (opened) => {
        sockets.set(opened, isValid);
        opened.on("error", () => opened.terminate());
        opened.on("message", () => opened.close(1003, "nothing is expected here"));
        opened.on("close", () => {
          sockets.delete(opened);
          if (sockets.size === 0) stop();
        });
        renewing ??= clock.after(RENEW_MS, renew);
        start().catch((error: unknown) => log.warn(`files of the canvas cannot be watched: ${messageOf(error)}`));
      });
    },
    [Symbol.dispose]() {
      for (const socket of sockets.keys()) socket.terminate();
      stop();
    },
  };
}

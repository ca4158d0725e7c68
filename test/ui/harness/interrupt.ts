import type { Page } from "playwright-core";
import type { Scene } from "./scene.ts";

interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly method?: string;
}

/** The moment at which the gateway goes: before it sees a request, or after it has done it and before the page has the answer. */
export const MOMENTS = ["before it reaches the gateway", "before its answer reaches the page"] as const;
type Moment = (typeof MOMENTS)[number];

/**
 * Kills the gateway at the page's next request of this method, and starts it again. Loads the page again, so that what is edited begins afterwards.
 * `over` resolves when the gateway is back.
 */
export async function interrupt(page: Page, scene: Pick<Scene, "restart">, method: string, moment: Moment): Promise<{ readonly over: Promise<void> }> {
  const over = Promise.withResolvers<void>();
  let id: string | undefined;
  let isEnding = false;
  const end = (): void => {
    isEnding = true;
    scene.restart("SIGKILL").then(over.resolve, over.reject);
  };
  await page.routeWebSocket(/./, (socket) => {
    const gateway = socket.connectToServer();
    socket.onMessage((message) => {
      const frame = JSON.parse(String(message)) as Frame;
      const isIt = !isEnding && frame.type === "req" && frame.method === method;
      if (isIt && moment === MOMENTS[0]) return end();
      if (isIt) id = frame.id;
      gateway.send(message);
    });
    gateway.onMessage((message) => {
      const frame = JSON.parse(String(message)) as Frame;
      if (!isEnding && id !== undefined && frame.type === "res" && frame.id === id) return end();
      socket.send(message);
    });
  });
  await page.reload();
  return { over: over.promise };
}

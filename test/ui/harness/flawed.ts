import type { Page, WebSocketRoute } from "playwright-core";

/** A connection with flaws of a test's choice. */
export interface Flawed {
  /** Methods that the page has asked for. */
  readonly asked: string[];
  /** The method whose requests are refused from now on. */
  refuse(method: string | undefined): void;
  /** Breaks the connection; the page makes another one. */
  drop(): Promise<void>;
}

/** Puts itself between the page and its gateway. Loads the page again. */
export async function openFlawed(page: Page): Promise<Flawed> {
  const asked: string[] = [];
  let refused: string | undefined;
  let current: WebSocketRoute | undefined;
  await page.routeWebSocket(/./, (socket) => {
    current = socket;
    const gateway = socket.connectToServer();
    socket.onMessage((message) => {
      const { id, method = "" } = JSON.parse(String(message)) as { readonly id?: string; readonly method?: string };
      asked.push(method);
      const error = { code: "UNAVAILABLE", message: "the file could not be opened" };
      if (method === refused) socket.send(JSON.stringify({ type: "res", id, ok: false, error }));
      else gateway.send(message);
    });
  });
  await page.reload();
  return {
    asked,
    refuse: (method) => void (refused = method),
    drop: async () => current?.close({ code: 1001 }),
  };
}

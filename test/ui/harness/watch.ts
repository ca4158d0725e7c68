import type { BrowserContext, Page } from "playwright-core";
import type { PageWindow } from "../../harness/in-page.ts";

/** What a window's pages did and said since they were watched. */
export interface Watched {
  /** Addresses of everything that was asked for, sockets too. */
  readonly requests: readonly string[];
  /** Errors on the console, uncaught errors, and what the page's policy refused. */
  readonly errors: readonly string[];
  /** Dialogs of the browser: a page of ours shows none. */
  readonly dialogs: readonly string[];
  /** Addresses that the pages themselves went to. */
  readonly places: readonly string[];
  /** What was asked of another address than this one; data and blobs are the page's own. */
  foreign(url: string): readonly string[];
}

/** Watches every page of a window, from before its first script on. */
export async function watch(window: BrowserContext): Promise<Watched> {
  const requests: string[] = [];
  const errors: string[] = [];
  const dialogs: string[] = [];
  const places: string[] = [];
  const follow = (page: Page): void => {
    page.on("websocket", (socket) => requests.push(socket.url()));
    page.on("console", (message) => message.type() === "error" && errors.push(`${page.url()}: ${message.text()}`));
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("framenavigated", (frame) => places.push(frame.url()));
  };
  window.on("request", (request) => requests.push(request.url()));
  window.on("page", follow);
  window.pages().forEach(follow);
  await window.addInitScript(() => {
    (globalThis as unknown as PageWindow).addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
      console.error(`refused by the policy: ${violatedDirective} ${blockedURI} ${sample}`),
    );
  });
  const hostOf = (address: string): string => new URL(address).host;
  return {
    requests,
    errors,
    dialogs,
    places,
    foreign: (url) => requests.filter((address) => !/^(?:data|blob|about):/.test(address) && hostOf(address) !== hostOf(url)),
  };
}

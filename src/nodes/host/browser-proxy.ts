import { AppError } from "../../base/errors.ts";
import type { ProxyAnswer } from "../../browser/index.ts";
import type { HostCall } from "./run-command.ts";
import { HostError } from "./host-error.ts";

/** The browser of this machine for the gateway. */
export interface HostBrowser {
  proxy(params: unknown, signal: AbortSignal): Promise<ProxyAnswer>;
}

/** `browser.proxy`, where this machine has a browser to share. */
export const browserCommands = (browser: HostBrowser | undefined): readonly [string, (call: HostCall) => Promise<unknown>][] =>
  browser === undefined
    ? []
    : [
        [
          "browser.proxy",
          async ({ params, signal, begin }) => {
            begin();
            try {
              return await browser.proxy(params, signal);
            } catch (error) {
              throw error instanceof AppError ? new HostError(error.code, error.message) : error;
            }
          },
        ],
      ];

import { createLazyWebhooks, loadWebhooks, type LazyWebhooks } from "../automation/index.ts";
import { lazy } from "../base/lazy.ts";
import type { Core } from "./core.ts";

type WebhooksDeps = Parameters<typeof createLazyWebhooks>[0];

export interface OpenWebhooksDeps extends Pick<WebhooksDeps, "runs" | "notify"> {
  readonly core: Core;
  /** The gateway's. */
  readonly port: () => number;
}

export interface OpenWebhooks {
  readonly webhooks: LazyWebhooks;
  /** The configuration of hooks changed: mail may be watched now, or no longer. */
  reload(): Promise<void>;
}

/** Requests of other programs, and mail. */
export function openWebhooks({ core, port, runs, notify }: OpenWebhooksDeps, stack: AsyncDisposableStack): OpenWebhooks {
  const { config, store, clock, ids } = core;
  const webhooks = stack.use(createLazyWebhooks({ config, store, clock, ids, log: core.log.subsystem("webhooks"), runs, notify }));
  const gmail = lazy(async () => {
    const { createGmailWatcher } = await loadWebhooks();
    return createGmailWatcher({ config, clock, log: core.log.subsystem("gmail"), cwd: config.paths.state, port });
  });
  stack.defer(async () => (await gmail.started())?.[Symbol.asyncDispose]());
  return {
    webhooks,
    async reload() {
      if (config.current.hooks?.gmail?.account !== undefined || gmail.started()) await (await gmail()).reconsider();
    },
  };
}

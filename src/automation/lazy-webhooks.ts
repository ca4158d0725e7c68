import { dirname } from "node:path";
import { lazy } from "../base/lazy.ts";
import type { Config } from "../config/index.ts";
import type { HookAnswer, HookRequest, WebhooksDeps } from "./webhooks/webhooks.ts";

export interface LazyWebhooksDeps extends Omit<WebhooksDeps, "transforms"> {
  readonly config: Pick<Config, "current" | "resolveSecret" | "env" | "paths">;
}

export interface LazyWebhooks extends Disposable {
  /** Continues with what the previous process accepted. */
  start(): Promise<void>;
  handle(request: HookRequest): Promise<HookAnswer>;
}

/** Requests of other programs: their code is loaded with the first, or when a run of the previous process has no end yet. */
export function createLazyWebhooks(deps: LazyWebhooksDeps): LazyWebhooks {
  const { config, clock } = deps;
  let close: (() => void) | undefined;
  const open = lazy(async () => {
    const { createTransforms, createWebhooks } = await import("./webhooks/index.ts");
    const transforms = createTransforms({
      clock,
      configFolder: dirname(config.paths.file),
      transformsDir: () => config.current.hooks?.transformsDir,
      env: config.env,
    });
    const webhooks = createWebhooks({ ...deps, transforms });
    await webhooks.resume();
    close = webhooks.close;
    return webhooks;
  });
  return {
    async start() {
      if (config.current.hooks === undefined) return;
      const left = await deps.store.read("idempotency.running", { scope: "webhook" });
      if (left.length > 0) await open();
    },
    handle: async (request) => (await open()).handle(request),
    [Symbol.dispose]() {
      close?.();
    },
  };
}

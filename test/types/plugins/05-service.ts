import { onDiagnosticEvent, type OpenClawPluginApi, type OpenClawPluginService } from "openclaw/plugin-sdk";

function createService(): OpenClawPluginService {
  let stop: (() => void) | undefined;
  return {
    id: "usage-log",
    start(ctx) {
      stop = onDiagnosticEvent((event) => {
        if (event.type === "model.usage") ctx.logger.info(`${event.model ?? "?"}: ${event.usage.total ?? 0} tokens, ${ctx.stateDir}`);
        else if (event.type === "webhook.error") ctx.logger.warn(event.error);
      });
    },
    stop: async () => stop?.(),
  };
}

export function register(api: OpenClawPluginApi): void {
  api.registerService(createService());
}

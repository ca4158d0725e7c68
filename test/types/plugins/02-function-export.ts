import type { OpenClawPluginApi } from "openclaw/plugin-sdk";

export default function register(api: OpenClawPluginApi): void {
  const { logger, registerCommand, pluginConfig } = api;
  const greeting = typeof pluginConfig?.["greeting"] === "string" ? pluginConfig["greeting"] : "hello";
  registerCommand({
    name: "hello",
    description: "Says hello.",
    acceptsArgs: true,
    handler: (ctx) => ({ text: `${greeting} ${ctx.args ?? ctx.senderId ?? "you"}` }),
  });
  logger.debug?.("registered");
}

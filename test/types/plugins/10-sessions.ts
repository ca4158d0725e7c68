import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

export async function activate(api: OpenClawPluginApi): Promise<void> {
  api.registerSessionExtension({ namespace: "mood", description: "How it went.", cleanup: ({ reason }) => api.logger.info(reason) });
  api.registerTrustedToolPolicy({
    id: "no-writes",
    description: "No writes at night.",
    matcher: ["write"],
    evaluate: (event) => (event.toolName === "write" ? { allow: false, reason: "night" } : undefined),
  });
  api.on("session_start", async (event, ctx) => {
    if (!ctx.sessionKey) return;
    await api.session.workflow.enqueueNextTurnInjection({
      sessionKey: ctx.sessionKey,
      text: `Session ${event.sessionId} began.`,
      idempotencyKey: event.sessionId,
      ttlMs: 60_000,
    });
  });
}

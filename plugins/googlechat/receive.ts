/** An account from its start to its end: its path on the gateway, open while the platform accepts its credentials. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import { type createWebhooks, hopeless, jsonOf, keepConnected, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { GoogleChatAccount } from "./account.ts";
import type { GoogleChatApi } from "./api.ts";
import { eventsIn, type MappingDeps } from "./inbound.ts";
import type { KeySource } from "./keys.ts";
import { verifyRequest } from "./verify.ts";

const MAX_BYTES = 1024 * 1024;
/** Longer than a token serves. */
const REPLAY_MS = 2 * 3_600_000;

export interface ReceiveDeps extends Pick<MappingDeps, "self"> {
  readonly api: GoogleChatApi;
  readonly keys: Record<"app-url" | "project-number", KeySource>;
  readonly webhooks: ReturnType<typeof createWebhooks>;
  readonly waiting: Waiting;
  /** A message came, for the sign that it is being answered. */
  heard(to: string, messageId: string): void;
  /** The account is connected. */
  started(): Promise<void>;
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: ChannelGatewayContext<GoogleChatAccount>, deps: ReceiveDeps): Promise<void> {
  const { account, accountId } = ctx;
  const { api, keys, webhooks, waiting, self } = deps;
  const { audienceType, audience, webhookPath } = account;
  if (audienceType === undefined || audience === "") throw hopeless("Google Chat needs channels.googlechat.audienceType and audience");
  await keepConnected(ctx, {
    waiting,
    status: { mode: "webhook", webhookPath },
    async connect(run) {
      await api.check(run.signal);
      const close = webhooks.register({
        pluginId: "googlechat",
        accountId,
        path: webhookPath,
        log: run.log,
        now: waiting.now,
        maxBytes: MAX_BYTES,
        replayWindowMs: REPLAY_MS,
        verify: (request) => verifyRequest(request, { account, keys: keys[audienceType], now: waiting.now }),
        async handle({ body }) {
          run.alive();
          const read = jsonOf(body.toString("utf8"));
          if (read === undefined) return { status: 400, body: { error: "the body is not JSON" } };
          for (const event of await eventsIn(read, { api, account, self })) {
            if (event.kind === "message") deps.heard(event.to, event.id);
            await run.intake.behind(event.chat.id, () => run.intake.offerOnce(event));
          }
          return {};
        },
        // Google may try again although it was taken: that has no effect, and is no error.
        repeated: () => ({ status: 200, body: {} }),
      });
      try {
        run.up({ mode: "webhook", webhookPath, audienceType });
        await deps.started();
        await run.stopped();
      } finally {
        close();
      }
    },
  });
}

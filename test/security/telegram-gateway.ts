import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

/** A real gateway with the Telegram channel, and a Bot API server with people behind it. */
export interface TelegramGateway extends AsyncDisposable {
  readonly telegram: FakeTelegram;
  readonly gateway: LabGateway;
}

/** `section` makes `channels.telegram`; `sections` are laid over the rest of the configuration. */
export async function startTelegramGateway(
  section: (telegram: FakeTelegram) => object,
  sections: Readonly<Record<string, unknown>> = {},
): Promise<TelegramGateway> {
  const telegram = await startTelegram();
  telegram.direct(telegram.me);
  const gateway = await startLabGateway({
    sections: { ...sections, channels: { telegram: { enabled: true, botToken: telegram.token, ackReaction: "", ...section(telegram) } } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  return {
    telegram,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
    },
  };
}

export const WEBHOOK_ORIGIN = "https://bot.example";

/** A channel that sends to a Bot API server, for tests. */
import type { ChannelOutboundContext, OutboundDeliveryResult } from "openclaw/plugin-sdk";
import { type FakeTelegram, startTelegram } from "../../../test/fakes/telegram/index.ts";
import { createTelegramPlugin, type TelegramChannel } from "../channel.ts";
import { configOf } from "../testing.ts";

export interface Outgoing extends Partial<ChannelOutboundContext> {
  readonly config?: Record<string, unknown>;
}

export interface SendingLab extends AsyncDisposable {
  readonly telegram: FakeTelegram;
  readonly channel: TelegramChannel;
  /** A private chat. */
  readonly chat: number;
  contextOf(over?: Outgoing): ChannelOutboundContext;
  send(over?: Outgoing): Promise<OutboundDeliveryResult>;
  /** What people see of us. */
  seen(where?: number): ReturnType<FakeTelegram["messages"]>;
}

export async function startSending(): Promise<SendingLab> {
  const telegram = await startTelegram();
  const channel = createTelegramPlugin({ apiRoot: telegram.apiRoot });
  const chat = telegram.say("/start").chatId;
  const contextOf = ({ config, ...rest }: Outgoing = {}): ChannelOutboundContext => ({
    cfg: configOf(telegram.token, config),
    to: `telegram:${chat}`,
    text: "hello",
    ...rest,
  });
  return {
    telegram,
    channel,
    chat,
    contextOf,
    send: (over) => channel.outbound!.sendText!(contextOf(over)),
    seen: (where = chat) => telegram.messages(where).filter(({ byBot }) => byBot),
    async [Symbol.asyncDispose]() {
      channel[Symbol.dispose]();
      await telegram[Symbol.asyncDispose]();
    },
  };
}

/** What a send failed with. */
export async function failed(act: Promise<unknown>): Promise<Error & { readonly delivery?: unknown }> {
  return act.then(
    () => {
      throw new Error("it was sent");
    },
    (error: unknown) => error as Error,
  );
}

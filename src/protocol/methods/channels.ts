import { method } from "../method.ts";
import {
  amount,
  anything,
  closed,
  count,
  effect,
  either,
  filled,
  flag,
  free,
  idempotencyKey,
  list,
  map,
  maybe,
  moment,
  number,
  open,
  orNull,
  text,
  texts,
} from "../pieces.ts";

const at = maybe(orNull(moment()));

const direction = open({
  state: text({ description: "`ok`, `starting`, `waiting`, `conflict`, `error` or `stopped`." }),
  text: maybe(text({ description: "What is wrong." })),
  fix: maybe(text({ description: "What to do about it." })),
  since: maybe(moment()),
});

const Account = open({
  accountId: filled(),
  name: maybe(text()),
  enabled: maybe(flag()),
  configured: maybe(flag()),
  linked: maybe(flag()),
  running: maybe(flag()),
  stoppedByHand: maybe(flag({ description: "Until it is started again or the gateway restarts." })),
  connected: maybe(flag()),
  receiving: maybe(direction),
  sending: maybe(direction),
  reconnectAttempts: maybe(amount()),
  lastError: maybe(orNull(text())),
  lastConnectedAt: at,
  lastStartAt: at,
  lastStopAt: at,
  lastInboundAt: at,
  lastOutboundAt: at,
  lastProbeAt: at,
  mode: maybe(text()),
  dmPolicy: maybe(text()),
  allowFrom: maybe(list(either(text(), number()))),
  probe: maybe(anything()),
  audit: maybe(anything()),
});

const run = {
  channel: filled(),
  accountId: filled(),
  running: flag({ description: "It is meant to run." }),
  stoppedByHand: maybe(flag()),
};

const delivered = {
  runId: filled(),
  messageId: filled(),
  channel: filled(),
  chatId: maybe(text()),
  channelId: maybe(text()),
  toJid: maybe(text()),
  conversationId: maybe(text()),
};

const target = {
  to: filled(),
  channel: maybe(text()),
  accountId: maybe(text()),
  threadId: maybe(text()),
  idempotencyKey: idempotencyKey(),
};

/** Chat platforms: how they are, logging in and out, sending. */
export const channelsMethods = {
  "channels.status": method({
    access: "operator.read",
    params: closed({ probe: maybe(flag()), timeoutMs: maybe(amount({ default: 10_000 })) }),
    result: closed({
      ts: moment(),
      channelOrder: texts(),
      channelLabels: map(text()),
      channelDetailLabels: maybe(map(text())),
      channelSystemImages: maybe(map(text())),
      channelMeta: maybe(list(closed({ id: filled(), label: text(), detailLabel: text(), systemImage: maybe(text()) }))),
      channels: free(),
      channelAccounts: map(list(Account)),
      channelDefaultAccountId: map(text()),
    }),
    effect: false,
    module: "channels",
    summary: "All channels and their accounts; with `probe` each is asked.",
  }),
  "channels.logout": method({
    access: "operator.admin",
    params: effect({ channel: filled(), accountId: maybe(text()) }),
    result: open({ channel: filled(), accountId: filled(), cleared: flag(), loggedOut: maybe(flag()) }),
    effect: true,
    module: "channels",
    summary: "Logs an account out and forgets its credentials.",
  }),
  "channels.start": method({
    access: "operator.admin",
    params: effect({ channel: filled(), accountId: maybe(text()), restart: maybe(flag({ description: "Also one that runs: it is stopped first." })) }),
    result: closed(run),
    effect: true,
    module: "channels",
    summary: "Starts an account; what waited for it is sent.",
  }),
  "channels.stop": method({
    access: "operator.admin",
    params: effect({ channel: filled(), accountId: maybe(text()) }),
    result: closed(run),
    effect: true,
    module: "channels",
    summary: "Stops an account until it is started again or the gateway restarts. Outgoing messages wait.",
  }),
  "web.login.start": method({
    access: "operator.admin",
    params: effect({ force: maybe(flag()), timeoutMs: maybe(amount()), verbose: maybe(flag()), accountId: maybe(text()) }),
    result: open({ message: text(), qrDataUrl: maybe(text()) }),
    effect: true,
    module: "channels",
    summary: "Starts a login by QR code.",
    advertised: false,
  }),
  "web.login.wait": method({
    access: "operator.admin",
    params: closed({ timeoutMs: maybe(amount()), accountId: maybe(text()) }),
    result: open({ connected: flag(), message: text() }),
    effect: false,
    module: "channels",
    summary: "Waits until the code was scanned.",
    advertised: false,
  }),
  send: method({
    access: "operator.write",
    params: closed({
      ...target,
      message: maybe(text()),
      mediaUrl: maybe(text()),
      mediaUrls: maybe(texts()),
      gifPlayback: maybe(flag()),
      sessionKey: maybe(text()),
    }),
    result: open(delivered),
    effect: true,
    module: "channels",
    summary: "Sends a text or media through a channel (`whatsapp` when none is named) and mirrors it into the transcript.",
  }),
  poll: method({
    access: "operator.write",
    params: closed({
      ...target,
      question: filled(),
      options: list(filled(), { minItems: 2, maxItems: 12 }),
      maxSelections: maybe(count({ maximum: 12 })),
      durationSeconds: maybe(count({ maximum: 604_800 })),
      durationHours: maybe(count()),
      silent: maybe(flag()),
      isAnonymous: maybe(flag()),
    }),
    result: open({ ...delivered, pollId: maybe(text()) }),
    effect: true,
    module: "channels",
    summary: "Sends a poll.",
    advertised: false,
  }),
};

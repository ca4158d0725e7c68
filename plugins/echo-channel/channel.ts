import type { ChannelInbound, ChannelInboundResult, ChannelPlugin } from "openclaw/plugin-sdk";
import { defineChannel } from "openclaw/plugin-sdk/channel-kit";

export interface EchoMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly accountId: string;
}

/** A message that a user sends over the channel. */
export interface InboundMessage {
  readonly from: string;
  readonly text: string;
  /** Repeated, it is the same message. */
  readonly id: string;
}

export interface Echo {
  readonly channel: ChannelPlugin;
  readonly sent: EchoMessage[];
  /** Hands a message to the host; resolves when it is on disk or was turned away. Undefined while the account does not run. */
  receive(message: InboundMessage): Promise<ChannelInboundResult> | undefined;
}

/** Most messages in memory; older ones go. */
const MOST = 1000;

/** A channel without a service behind it: inbound messages come over HTTP, and sent ones are stored in memory and can be listed. */
export function createEcho(): Echo {
  const sent: EchoMessage[] = [];
  let count = 0;
  let inbound: ChannelInbound | undefined;
  const channel = defineChannel({
    id: "echo",
    label: "Echo",
    blurb: "Stores what is sent over it, for testing.",
    // There is nothing to be connected to: the account runs until it is stopped.
    async connect(run) {
      ({ inbound } = run);
      run.up();
      await run.stopped();
      inbound = undefined;
    },
    async send({ accountId }, { to, text }) {
      count += 1;
      sent.push({ id: `echo-${count}`, to, text, accountId });
      if (sent.length > MOST) sent.shift();
      return `echo-${count}`;
    },
  });
  return {
    channel,
    sent,
    receive: ({ from, text, id }) => inbound?.accept({ kind: "message", id, chat: { type: "direct", id: from }, sender: { id: from }, text, to: from }),
  };
}

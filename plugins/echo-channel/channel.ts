import type { ChannelInbound, ChannelInboundResult, ChannelPlugin } from "openclaw/plugin-sdk";

export interface EchoMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly accountId: string;
}

interface EchoAccount {
  readonly accountId: string;
  readonly enabled: boolean;
}

/** Most messages in memory; older ones go. */
const MOST = 1000;

/** `channels.echo` as far as this plugin reads it. */
function sectionOf(config: unknown): { readonly enabled?: unknown } {
  const channels = (config as { readonly channels?: Readonly<Record<string, unknown>> }).channels;
  return channels?.["echo"] ?? {};
}

/** A message that a user sends over the channel. */
export interface InboundMessage {
  readonly from: string;
  readonly text: string;
  /** Repeated, it is the same message. */
  readonly id: string;
}

interface Echo {
  readonly channel: ChannelPlugin<EchoAccount>;
  readonly sent: () => readonly EchoMessage[];
  /** Hands a message to the host; resolves when it is on disk or was turned away. Undefined while the account does not run. */
  receive(message: InboundMessage): Promise<ChannelInboundResult> | undefined;
}

/** A channel without a service behind it: inbound messages come over HTTP, and sent ones are stored in memory and can be listed. */
export function createEcho(): Echo {
  const sent: EchoMessage[] = [];
  let count = 0;
  /** From the host, when the account is started. */
  let inbound: ChannelInbound | undefined;

  function store(to: string, text: string, accountId: string | null | undefined): { channel: string; messageId: string } {
    count += 1;
    const message = { id: `echo-${count}`, to, text, accountId: accountId ?? "default" };
    sent.push(message);
    if (sent.length > MOST) sent.shift();
    return { channel: "echo", messageId: message.id };
  }

  const channel: ChannelPlugin<EchoAccount> = {
    id: "echo",
    meta: { id: "echo", label: "Echo", selectionLabel: "Echo (for trying things out)", docsPath: "/channels/echo", blurb: "Keeps what is sent over it." },
    capabilities: { chatTypes: ["direct"] },
    reload: { configPrefixes: ["channels.echo"] },
    config: {
      listAccountIds: () => ["default"],
      defaultAccountId: () => "default",
      resolveAccount: (config) => ({ accountId: "default", enabled: sectionOf(config).enabled !== false }),
      isEnabled: ({ enabled }) => enabled,
      isConfigured: () => true,
    },
    outbound: {
      deliveryMode: "direct",
      textChunkLimit: 4000,
      sendText: async ({ to, text, accountId }) => store(to, text, accountId),
    },
    gateway: {
      // There is nothing to be connected to: the account runs until it is stopped.
      startAccount: ({ accountId, abortSignal, setStatus, inbound: port }) =>
        new Promise<void>((resolve) => {
          inbound = port;
          setStatus({ accountId, running: true });
          abortSignal.addEventListener("abort", () => {
            inbound = undefined;
            setStatus({ accountId, running: false });
            resolve();
          });
        }),
    },
  };
  return {
    channel,
    sent: () => [...sent],
    receive: ({ from, text, id }) => inbound?.accept({ kind: "message", id, chat: { type: "direct", id: from }, sender: { id: from }, text, to: from }),
  };
}

import type { ChannelPlugin } from "openclaw/plugin-sdk";

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

/** Messages that are kept; older ones go. */
const MOST = 1000;

/** `channels.echo` as far as this plugin reads it. */
function sectionOf(config: unknown): { readonly enabled?: unknown } {
  const channels = (config as { readonly channels?: Readonly<Record<string, unknown>> }).channels;
  return channels?.["echo"] ?? {};
}

/** A channel without a service behind it: what is sent is kept, and can be looked at. */
export function createEcho(): { readonly channel: ChannelPlugin<EchoAccount>; readonly sent: () => readonly EchoMessage[] } {
  const sent: EchoMessage[] = [];
  let count = 0;

  function keep(to: string, text: string, accountId: string | null | undefined): { channel: string; messageId: string } {
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
      sendText: async ({ to, text, accountId }) => keep(to, text, accountId),
    },
    gateway: {
      // There is nothing to be connected to: the account runs until it is stopped.
      startAccount: ({ accountId, abortSignal, setStatus }) =>
        new Promise<void>((resolve) => {
          setStatus({ accountId, running: true });
          abortSignal.addEventListener("abort", () => {
            setStatus({ accountId, running: false });
            resolve();
          });
        }),
    },
  };
  return { channel, sent: () => [...sent] };
}

/** A whole channel from one description. */
import type { ChannelCapabilities, ChannelOutboundAdapter, ChannelOutboundContext, ChannelPlugin } from "../../../protocol/index.ts";
import { type AccountReaderSpec, type ChannelAccount, createAccountReader } from "./accounts.ts";
import { type AccountRun, type AccountRunOptions, keepConnected } from "./connection.ts";
import { hopeless } from "./failure.ts";
import { type ChannelOnboardingSpec, createOnboarding } from "./onboarding.ts";
import { type ChannelProbe, createChannelParts } from "./parts.ts";
import { realWaiting } from "./waiting.ts";

export interface ChannelDescription<A extends ChannelAccount = ChannelAccount, P extends ChannelProbe = ChannelProbe>
  extends Partial<Omit<ChannelOnboardingSpec<A, P>, "channel" | "label" | "accounts">>, Pick<Partial<AccountReaderSpec<A>>, "read" | "env"> {
  readonly id: string;
  /** For people: "Mattermost". */
  readonly label: string;
  /** One sentence for lists. */
  readonly blurb: string;
  /** Default: private chats. */
  readonly capabilities?: ChannelCapabilities | undefined;
  /** Runs one connection of an account; see `keepConnected`. */
  connect(run: AccountRun, account: A): Promise<unknown>;
  readonly connection?: Partial<Omit<AccountRunOptions, "connect">> | undefined;
  /** Sends one message and gives the platform's id for it. */
  send(account: A, message: ChannelOutboundContext): Promise<string>;
  /** Longest message; the host cuts longer texts, as Markdown unless `outbound` says otherwise. Default 4000. */
  readonly textLimit?: number | undefined;
  readonly outbound?: Partial<ChannelOutboundAdapter> | undefined;
  /** Anything else of the contract, over what is made here. */
  readonly more?: Partial<ChannelPlugin<A, P, object>> | undefined;
}

const TEXT_LIMIT = 4000;

/** `config`, `setup`, `onboarding`, `status`, `security`, `groups`, `pairing`, `gateway` and `outbound` of a channel. */
export function defineChannel<A extends ChannelAccount = ChannelAccount, P extends ChannelProbe = ChannelProbe>(
  description: ChannelDescription<A, P>,
): ChannelPlugin<A, P, object> {
  const { id, label, blurb, capabilities = { chatTypes: ["direct"] }, credentials = [], connection, textLimit = TEXT_LIMIT, outbound, more } = description;
  const accounts = createAccountReader<A>({
    channel: id,
    credentials,
    read: (account) => description.read?.(account) ?? (account as A),
    ...(description.env ? { env: description.env } : {}),
  });
  const spec: ChannelOnboardingSpec<A, P> = {
    idLabel: `${id}UserId`,
    normalizeEntry: (entry) => entry.trim().replace(new RegExp(`^${id}:`, "i"), ""),
    ...description,
    credentials,
    channel: id,
    accounts,
  };
  const parts = createChannelParts(spec);
  return {
    id,
    meta: { id, label, selectionLabel: label, docsPath: `/channels/${id}`, blurb },
    capabilities,
    reload: { configPrefixes: [`channels.${id}`] },
    ...parts,
    onboarding: createOnboarding(spec),
    gateway: {
      async startAccount(ctx) {
        const { account, accountId } = ctx;
        if (account.problems.length > 0) throw hopeless(`${label} account "${accountId}" cannot be started: ${account.problems.join("; ")}`);
        await keepConnected(ctx, { waiting: realWaiting, ...connection, connect: (run) => description.connect(run, account) });
      },
    },
    outbound: {
      deliveryMode: "direct",
      // Without it long texts would go out whole.
      chunkerMode: "markdown",
      textChunkLimit: textLimit,
      sendText: async (message) => ({ channel: id, messageId: await description.send(accounts.read(message.cfg, message.accountId), message) }),
      ...outbound,
    },
    ...more,
  };
}

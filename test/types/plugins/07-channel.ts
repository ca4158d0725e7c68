import { z } from "zod";
import {
  applyAccountNameToChannelSection,
  buildChannelConfigSchema,
  type ChannelPlugin,
  createAccountListHelpers,
  createDefaultChannelRuntimeState,
  DEFAULT_ACCOUNT_ID,
  DmPolicySchema,
  formatPairingApproveHint,
  MarkdownConfigSchema,
  type OpenClawConfig,
  type OpenClawPluginApi,
  type PluginRuntime,
  setAccountEnabledInConfigSection,
} from "openclaw/plugin-sdk";

interface PigeonAccount {
  accountId: string;
  enabled: boolean;
  loft?: string;
}

const PigeonConfigSchema = z.object({ loft: z.string().optional(), dmPolicy: DmPolicySchema.optional().default("pairing"), markdown: MarkdownConfigSchema });
const helpers = createAccountListHelpers("pigeon");
let runtime: PluginRuntime | undefined;

function resolveAccount(cfg: OpenClawConfig, accountId?: string | null): PigeonAccount {
  const section = cfg.channels?.["pigeon"] as { loft?: string; enabled?: boolean } | undefined;
  return { accountId: accountId ?? DEFAULT_ACCOUNT_ID, enabled: section?.enabled !== false, ...(section?.loft ? { loft: section.loft } : {}) };
}

export const pigeon: ChannelPlugin<PigeonAccount, { ok: boolean }> = {
  id: "pigeon",
  meta: { id: "pigeon", label: "Pigeon", selectionLabel: "Pigeon (post)", docsPath: "/channels/pigeon", blurb: "Slow.", order: 99 },
  capabilities: { chatTypes: ["direct", "group"], media: false },
  reload: { configPrefixes: ["channels.pigeon"] },
  configSchema: buildChannelConfigSchema(PigeonConfigSchema),
  config: {
    listAccountIds: helpers.listAccountIds,
    resolveAccount,
    defaultAccountId: helpers.resolveDefaultAccountId,
    setAccountEnabled: ({ cfg, accountId, enabled }) =>
      setAccountEnabledInConfigSection({ cfg, sectionKey: "pigeon", accountId, enabled, allowTopLevel: true }),
    isConfigured: (account) => Boolean(account.loft),
    describeAccount: (account) => ({ accountId: account.accountId, enabled: account.enabled, configured: Boolean(account.loft) }),
  },
  setup: {
    applyAccountConfig: ({ cfg, accountId, input }) => applyAccountNameToChannelSection({ cfg, channelKey: "pigeon", accountId, name: input.name }),
  },
  pairing: { idLabel: "ring number", normalizeAllowEntry: (entry) => entry.toLowerCase() },
  security: {
    resolveDmPolicy: ({ account }) => ({
      policy: "pairing",
      allowFrom: [],
      allowFromPath: "channels.pigeon.",
      approveHint: formatPairingApproveHint(account.accountId),
    }),
  },
  outbound: {
    deliveryMode: "direct",
    textChunkLimit: 140,
    chunker: (text, limit) => runtime?.channel.text.chunkText(text, limit) ?? [text],
    sendText: async ({ to, text }) => ({ channel: "pigeon", messageId: `${to}:${text.length}` }),
    resolveTarget: ({ to }) => (to ? { ok: true, to } : { ok: false, error: new Error("where to?") }),
  },
  status: {
    defaultRuntime: createDefaultChannelRuntimeState(DEFAULT_ACCOUNT_ID),
    probeAccount: async ({ account }) => ({ ok: Boolean(account.loft) }),
    buildAccountSnapshot: ({ account, probe }) => ({ accountId: account.accountId, probe }),
  },
  gateway: {
    startAccount: async (ctx) => {
      ctx.setStatus({ accountId: ctx.accountId, running: true });
      ctx.log?.info(`loft ${ctx.account.loft ?? "none"}`);
      const route = runtime?.channel.routing.resolveAgentRoute({
        cfg: ctx.cfg,
        channel: "pigeon",
        accountId: ctx.accountId,
        peer: { kind: "direct", id: "7" },
      });
      const inbound = runtime?.channel.reply.finalizeInboundContext({ Body: "coo", From: "pigeon:7", SessionKey: route?.sessionKey });
      if (inbound) {
        await runtime?.channel.reply.dispatchReplyWithBufferedBlockDispatcher({
          ctx: inbound,
          cfg: ctx.cfg,
          dispatcherOptions: { deliver: async (payload, { kind }) => ctx.log?.debug?.(`${kind}: ${payload.text ?? ""}`) },
        });
      }
      await new Promise<void>((resolve) => {
        ctx.abortSignal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  },
};

export default {
  id: "pigeon",
  register(api: OpenClawPluginApi) {
    runtime = api.runtime;
    api.registerChannel({ plugin: pigeon });
    api.registerChannel(pigeon);
  },
};

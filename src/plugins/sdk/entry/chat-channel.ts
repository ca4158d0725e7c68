/** Channels put together from parts. */
import type { ChannelPlugin, HostConfig } from "../../../protocol/index.ts";
import { definePluginEntry, type PluginEntryDefinition } from "./plugin-entry.ts";
import type { OpenClawPluginApi, OpenClawPluginConfigSchema, PluginRuntime } from "../types/index.ts";

/** A pairing that tells the approved by a text. */
export interface TextPairing {
  readonly idLabel: string;
  readonly message: string;
  readonly normalizeAllowEntry?: ((entry: string) => string) | undefined;
  notify(params: { cfg: HostConfig; id: string; message: string; accountId?: string | undefined; runtime?: unknown }): Promise<void> | void;
}

type Loose = Readonly<Record<string, unknown>>;

export interface ChatChannelParts {
  readonly base: Loose & { readonly id: string };
  readonly pairing?: (Loose & { readonly text?: TextPairing | undefined }) | undefined;
  readonly security?: Loose | undefined;
  readonly threading?: Loose | undefined;
  /** May hold `base` and `attachedResults`, whose results get the channel's name. */
  readonly outbound?: Loose | undefined;
}

function pairingOf(parts: ChatChannelParts["pairing"]): Loose | undefined {
  if (!parts?.text) return parts;
  const { idLabel, message, normalizeAllowEntry, notify } = parts.text;
  const { text: _text, ...rest } = parts;
  return {
    ...rest,
    idLabel,
    ...(normalizeAllowEntry ? { normalizeAllowEntry } : {}),
    notifyApproval: async (params: { cfg: HostConfig; id: string }) => notify({ ...params, message }),
  };
}

type Send = (ctx: unknown) => Promise<Loose> | Loose;

function outboundOf(channel: string, parts: Loose | undefined): Loose | undefined {
  const attached = parts?.["attachedResults"] as Loose | undefined;
  if (!parts || (!attached && !parts["base"])) return parts;
  const { base, attachedResults: _attached, ...rest } = parts;
  const named = Object.entries(attached ?? {}).flatMap(([name, send]) =>
    typeof send === "function" ? [[name, async (ctx: unknown) => ({ channel, ...(await (send as Send)(ctx)) })] as const] : [],
  );
  return { ...(base as Loose | undefined), ...rest, ...Object.fromEntries(named) };
}

/** `base` with its pairing, security, threading and outbound parts. */
export function createChatChannelPlugin({ base, pairing, security, threading, outbound }: ChatChannelParts): ChannelPlugin {
  const parts = { pairing: pairingOf(pairing), security, threading, outbound: outboundOf(base.id, outbound) };
  return { ...base, ...Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) } as unknown as ChannelPlugin;
}

/** The part of a channel that its full and its setup face share. */
export const createChannelPluginBase = <T extends Loose & { readonly id: string }>(parts: T): T => ({ ...parts });

/** A plugin that is one channel, its code loaded with its entry. */
export function defineChannelPluginEntry(options: {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly plugin: ChannelPlugin;
  readonly configSchema?: OpenClawPluginConfigSchema | undefined;
  setRuntime?(runtime: PluginRuntime): void;
  registerFull?(api: OpenClawPluginApi): void;
}): PluginEntryDefinition & { readonly channelPlugin: ChannelPlugin } {
  const { plugin, setRuntime, registerFull, ...entry } = options;
  const definition = definePluginEntry({
    ...entry,
    register(api) {
      setRuntime?.(api.runtime);
      api.registerChannel({ plugin });
      if (api.registrationMode === "full") registerFull?.(api);
    },
  });
  return { ...definition, channelPlugin: plugin };
}

/** The light entry that onboarding loads. */
export const defineSetupPluginEntry = <T>(plugin: T): { readonly plugin: T } => ({ plugin });

/** Hints by key, as they are. */
export const createChannelConfigUiHints = <T extends Loose>(hints: T): T => ({ ...hints });

/** Messages that are kept on disk before they are worked on. What keeps and hands them out is the host's inbox; a plugin's own queue over it has no documented shape. */
import { INGRESS_INSTEAD, unbuilt } from "../unbuilt.ts";

/** How long a message that was handed out may stay unclaimed. */
export const DEFAULT_INGRESS_ADOPTION_STALL_MS = 120_000;
export const DEFAULT_INGRESS_RETRY_MAX_ATTEMPTS = 5;

type Plain = new (message?: string, options?: ErrorOptions) => Error;
type WithReason = new (reason: string, message?: string, options?: ErrorOptions) => Error & { readonly reason: string };

/** An error class of a channel's own; with a reason as its first argument where that is wanted. */
export function createChannelIngressError(name: string, options: { readonly withReason: true }): WithReason;
export function createChannelIngressError(name: string, options?: { readonly withReason?: false | undefined }): Plain;
export function createChannelIngressError(name: string, options: { readonly withReason?: boolean | undefined } = {}): Plain | WithReason {
  if (!options.withReason) {
    return class extends Error {
      override readonly name = name;
    };
  }
  return class extends Error {
    override readonly name = name;
    readonly reason: string;

    constructor(reason: string, message?: string, more?: ErrorOptions) {
      super(message, more);
      this.reason = reason;
    }
  };
}

/** Reply options under which a turn takes over the message that it answers. */
export const bindIngressLifecycleToReplyOptions = <L, O extends object>(lifecycle: L, options?: O): O & { turnAdoptionLifecycle: L } => ({
  ...(options as O),
  turnAdoptionLifecycle: lifecycle,
});

export const createChannelIngressMonitor = unbuilt("createChannelIngressMonitor", "ingress", false, INGRESS_INSTEAD);
export const resolveStableChannelMessageIngress = unbuilt("resolveStableChannelMessageIngress", "ingress", true, INGRESS_INSTEAD);
export const fanInChannelIngressLifecycles = unbuilt("fanInChannelIngressLifecycles", "ingress", false, INGRESS_INSTEAD);
export const channelIngressRoutes = (...routes: readonly unknown[]): unknown[] =>
  routes.flat().filter((route) => route !== undefined && route !== null && route !== false);

export const dispatchInboundDirectDm = unbuilt("dispatchInboundDirectDm", "conversation");
export const resolveChannelInboundRouteEnvelope = unbuilt("resolveChannelInboundRouteEnvelope", "routing", false);
export const createChannelInboundEnvelopeBuilder = unbuilt("createChannelInboundEnvelopeBuilder", "routing", false);
export const createChannelMessageReplyPipeline = unbuilt("createChannelMessageReplyPipeline", "conversation", false);
export const recordChannelFeedbackEvent = unbuilt("recordChannelFeedbackEvent", "conversation");
export const runChannelFeedbackReflection = unbuilt("runChannelFeedbackReflection", "conversation");

/** Shown to the model in place of a file that could not be had. */
export const formatInboundMediaUnavailableText = ({ body, notice }: { readonly body?: string | undefined; readonly notice: string }): string =>
  [body?.trim(), notice].filter(Boolean).join("\n");

/** Shown to the model where there is a file and no text. */
export function formatMediaPlaceholderText(params: {
  readonly kind?: string | undefined;
  readonly count?: number | undefined;
  readonly body?: string | undefined;
}): string {
  const { kind = "attachment", count = 1, body } = params;
  return body?.trim() || `<media:${kind}>${count > 1 ? ` (${count} files)` : ""}`;
}

interface DispatchCounts {
  readonly tool?: number | undefined;
  readonly block?: number | undefined;
  readonly final?: number | undefined;
}

interface Dispatched {
  readonly queuedFinal?: boolean | undefined;
  readonly counts?: DispatchCounts | undefined;
}

export const resolveInboundReplyDispatchCounts = (result?: Dispatched | null): Required<{ [K in keyof DispatchCounts]: number }> => ({
  tool: result?.counts?.tool ?? 0,
  block: result?.counts?.block ?? 0,
  final: result?.counts?.final ?? 0,
});
export const hasFinalInboundReplyDispatch = (result?: Dispatched | null): boolean => result?.queuedFinal === true || (result?.counts?.final ?? 0) > 0;
export const DEFAULT_CHANNEL_FEEDBACK_REFLECTION_COOLDOWN_MS = 5 * 60 * 1000;

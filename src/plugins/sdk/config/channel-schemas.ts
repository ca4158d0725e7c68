/** Schemas that channels of newer plugins are made of. */
import { z } from "zod";
import { DmPolicySchema, GroupPolicySchema, requireOpenAllowFrom } from "./schemas.ts";

export const AllowFromListSchema = z.array(z.union([z.string(), z.number()])).optional();
export const ReplyToModeSchema = z.enum(["off", "first", "all", "batched"]);
export const TextChunkModeSchema = z.enum(["length", "newline"]);
export const MSTeamsReplyStyleSchema = z.enum(["thread", "top-level"]);
export const ContextVisibilityModeSchema = z.enum(["all", "allowlist", "allowlist_quote"]);
export const ChannelDangerouslyAllowNameMatchingSchema = z.boolean().optional();
export const ChannelSendReadReceiptsSchema = z.boolean().optional();
export const UnifiedStreamingModeSchema = z.enum(["off", "partial", "block", "progress"]);
export const ChannelPreviewStreamingConfigSchema = z
  .looseObject({ mode: UnifiedStreamingModeSchema.optional(), chunkMode: TextChunkModeSchema.optional() })
  .optional();
export const ChannelDeliveryStreamingConfigSchema = z.looseObject({ chunkMode: TextChunkModeSchema.optional() }).optional();

/** Anything with zod's `extend`, of whichever zod the plugin brings. */
interface Extendable {
  extend(shape: Record<string, unknown>): { superRefine?(check: (value: never, ctx: never) => void): unknown };
}

type Refine = (value: Record<string, unknown>, ctx: unknown) => void;

/** The account's keys, with `accounts` and `defaultAccount` beside them. */
export function buildMultiAccountChannelSchema(
  base: object,
  options: {
    readonly accountSchema?: object | undefined;
    readonly accountsMode?: "strict" | "catchall" | undefined;
    readonly refine?: Refine | undefined;
  } = {},
): object {
  const account = (options.accountSchema ?? base) as z.ZodType;
  const schema = (base as Extendable).extend({ accounts: z.record(z.string(), account.optional()).optional(), defaultAccount: z.string().optional() });
  return options.refine && schema.superRefine ? (schema.superRefine(options.refine) as object) : schema;
}

/** Keys that all accounts have. */
export function buildChannelAccountSchemaParts(): Record<string, unknown> {
  return {
    name: z.string().optional(),
    enabled: z.boolean().optional(),
    configWrites: z.boolean().optional(),
    dmPolicy: DmPolicySchema.optional(),
    allowFrom: AllowFromListSchema,
    groupPolicy: GroupPolicySchema.optional(),
    groupAllowFrom: AllowFromListSchema,
    historyLimit: z.number().int().min(0).optional(),
    dmHistoryLimit: z.number().int().min(0).optional(),
    textChunkLimit: z.number().int().positive().optional(),
    mediaMaxMb: z.number().positive().optional(),
    responsePrefix: z.string().optional(),
  };
}

/** A check for `superRefine`: an open channel says so on its list. */
export function refineChannelDmPolicy(
  params: { readonly channel: string } & Readonly<Record<string, unknown>>,
): (value: { dmPolicy?: unknown; allowFrom?: unknown }, ctx: Parameters<typeof requireOpenAllowFrom>[0]["ctx"]) => void {
  return (value, ctx) =>
    requireOpenAllowFrom({
      policy: typeof value.dmPolicy === "string" ? value.dmPolicy : undefined,
      allowFrom: Array.isArray(value.allowFrom) ? value.allowFrom : undefined,
      ctx,
      path: ["allowFrom"],
      message: `channels.${params.channel}.dmPolicy="open" needs channels.${params.channel}.allowFrom to hold "*"`,
    });
}

/** Pieces of channel configuration as zod schemas, for plugins that build their own out of them. */
import { z } from "zod";
import type { ChannelConfigSchema } from "../../../protocol/index.ts";

export const DmPolicySchema = z.enum(["pairing", "allowlist", "open", "disabled"]);
export const GroupPolicySchema = z.enum(["open", "disabled", "allowlist"]);
export const MarkdownTableModeSchema = z.enum(["off", "bullets", "code"]);
export const MarkdownConfigSchema = z.strictObject({ tables: MarkdownTableModeSchema.optional() }).optional();
export const DmConfigSchema = z.strictObject({ historyLimit: z.number().int().min(0).optional() });

const count = z.number().int().positive().optional();

export const BlockStreamingCoalesceSchema = z.strictObject({ minChars: count, maxChars: count, idleMs: z.number().int().nonnegative().optional() });

const names = z.array(z.string()).optional();

export const ToolPolicySchema = z
  .strictObject({ allow: names, alsoAllow: names, deny: names })
  .superRefine((policy, ctx) => {
    if (policy.allow?.length && policy.alsoAllow?.length) {
      ctx.addIssue({ code: "custom", message: "allow and alsoAllow exclude each other: put everything into allow, or use alsoAllow alone" });
    }
  })
  .optional();

export const TtsProviderSchema = z.enum(["elevenlabs", "openai", "edge"]);
export const TtsModeSchema = z.enum(["final", "all"]);
export const TtsAutoSchema = z.enum(["off", "always", "inbound", "tagged"]);

const text = z.string().optional();
const flag = z.boolean().optional();

export const TtsConfigSchema = z
  .strictObject({
    auto: TtsAutoSchema.optional(),
    enabled: flag,
    mode: TtsModeSchema.optional(),
    provider: TtsProviderSchema.optional(),
    summaryModel: text,
    modelOverrides: z.looseObject({ enabled: flag }).optional(),
    elevenlabs: z.looseObject({ apiKey: text, baseUrl: text, voiceId: text, modelId: text, languageCode: text }).optional(),
    openai: z.looseObject({ apiKey: text, model: text, voice: text }).optional(),
    edge: z.looseObject({ enabled: flag, voice: text, lang: text, outputFormat: text }).optional(),
    prefsPath: text,
    maxTextLength: count,
    timeoutMs: z.number().int().min(1000).max(120_000).optional(),
  })
  .optional();

/** Adds an issue where the policy is `open` and the list does not say `*`: nobody opens a channel by accident. */
export function requireOpenAllowFrom(params: {
  policy?: string | undefined;
  allowFrom?: readonly (string | number)[] | undefined;
  ctx: { addIssue(issue: { code: "custom"; path: (string | number)[]; message: string }): void };
  path: (string | number)[];
  message: string;
}): void {
  if (params.policy !== "open" || params.allowFrom?.some((entry) => String(entry).trim() === "*")) return;
  params.ctx.addIssue({ code: "custom", path: params.path, message: params.message });
}

/** Anything that may know its own JSON Schema: a schema of whichever zod the plugin brings. */
interface SelfDescribing {
  toJSONSchema?(options: Record<string, unknown>): Record<string, unknown>;
}

/** The JSON Schema of a channel's section. A schema that cannot describe itself stands for any object. */
export function buildChannelConfigSchema(schema: object): ChannelConfigSchema {
  const own = (schema as SelfDescribing).toJSONSchema;
  if (typeof own !== "function") return { schema: { type: "object", additionalProperties: true } };
  return { schema: own.call(schema, { target: "draft-07", unrepresentable: "any" }) };
}

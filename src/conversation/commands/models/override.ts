import type { ModelRef } from "../../../models/index.ts";

/** Fields of the entry for a choice; the default needs none, so that it follows the configuration. */
export function overrideFor(ref: ModelRef, standard: ModelRef, profile?: string): Readonly<Record<string, unknown>> {
  const isStandard = ref.provider === standard.provider && ref.id.toLowerCase() === standard.id.toLowerCase();
  return {
    providerOverride: isStandard ? null : ref.provider,
    modelOverride: isStandard ? null : ref.id,
    authProfileOverride: profile ?? null,
    authProfileOverrideSource: profile === undefined ? null : "user",
  };
}

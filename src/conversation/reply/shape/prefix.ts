/** The text that stands before replies. */
import { agentIdentity, messageSetting, type MessageScope } from "../../../channels/index.ts";
import type { HostConfig, ResponsePrefixContext } from "../../../protocol/index.ts";

/** The prefix as configured, by account, channel and `messages`; an empty one stops the search. `auto` is the agent's name. */
export function responsePrefix(cfg: HostConfig, agentId: string, place: MessageScope): string | undefined {
  const setting = messageSetting(cfg, "responsePrefix", place);
  if (setting?.trim() !== "auto") return setting?.trim() ? setting : undefined;
  const name = agentIdentity(cfg, agentId).name?.trim();
  return name ? `[${name}]` : undefined;
}

/** `claude-opus-4-5-20251101` → `claude-opus-4-5`. */
const shortModel = (model: string): string => (model.split("/").at(-1) ?? model).replace(/-\d{8}$/, "").replace(/-latest$/, "");

/** Values for a prefix, once the model is known. */
export function prefixContext(
  facts: ResponsePrefixContext,
  chosen: { readonly provider?: string | undefined; readonly model?: string | undefined } = {},
): ResponsePrefixContext {
  const { provider = facts.provider, model } = chosen;
  if (model === undefined) return facts;
  return { ...facts, provider, model: shortModel(model), modelFull: provider === undefined ? model : `${provider}/${model}` };
}

/** The prefix with its variables filled in. What is not known stays as it is written. */
export function fillPrefix(prefix: string, facts: ResponsePrefixContext): string {
  const values: Readonly<Record<string, string | undefined>> = {
    model: facts.model,
    modelfull: facts.modelFull,
    provider: facts.provider,
    thinkinglevel: facts.thinkingLevel,
    think: facts.thinkingLevel,
    "identity.name": facts.identityName,
    identityname: facts.identityName,
  };
  return prefix.replaceAll(/\{([a-z.]{1,20})\}/gi, (whole, name: string) => values[name.toLowerCase()] ?? whole);
}

/** The text behind its prefix, unless it stands there already. */
export function withPrefix(text: string, prefix: string | undefined): string {
  if (!prefix || text.trim() === "" || text.startsWith(prefix)) return text;
  return `${prefix} ${text}`;
}

/** The text that stands before replies. */
import type { ResponsePrefixContext } from "../../protocol/index.ts";

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

import { GATEWAYS } from "./gateways.ts";
import { CLOUDS, HOSTS } from "./hosts.ts";
import { BUILTIN, LOCAL, SENSES } from "./local.ts";
import { KIMI, MAKERS, MINIMAX, ZAI } from "./makers.ts";
import type { ProviderFacts } from "./provider.ts";

export type { KnownModel, Presence, ProviderFacts } from "./provider.ts";

/** Every provider that is known without configuration. Without a user's choice, the first usable one is picked in this order. */
export const PROVIDERS: readonly ProviderFacts[] = [...MAKERS, ...GATEWAYS, ZAI, ...MINIMAX, ...KIMI, ...HOSTS, ...CLOUDS, ...LOCAL, ...SENSES, BUILTIN];

const BY_ID: ReadonlyMap<string, ProviderFacts> = new Map(PROVIDERS.flatMap((facts) => [facts.id, ...(facts.aliases ?? [])].map((name) => [name, facts])));

/** The canonical lower-case name for a provider's name or alias. */
export function canonicalProvider(name: string): string {
  const plain = name.trim().toLowerCase();
  return BY_ID.get(plain)?.id ?? plain;
}

export function providerFacts(name: string): ProviderFacts | undefined {
  return BY_ID.get(canonicalProvider(name));
}

/** Variables that may hold a provider's key, in the order they are tried. */
export function keyVariables(name: string): readonly string[] {
  const facts = providerFacts(name);
  return facts === undefined || facts.ambient === true ? [] : facts.env;
}

/** Works without a key: it runs on this machine, or is built in. */
export const needsNoKey = (name: string): boolean => providerFacts(name)?.anyKey === true;

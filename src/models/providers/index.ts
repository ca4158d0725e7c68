import type { OpenClawConfig } from "../../config/index.ts";
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

/** Works without a key: it runs on this machine, is built in, or is a server of the user's own that is configured without one. */
export const needsNoKey = (name: string, config?: Pick<OpenClawConfig, "models">): boolean => {
  const facts = providerFacts(name);
  return facts ? facts.anyKey === true : isKeylessServer(name, config);
};

/** A provider that only the configuration knows, with an address and neither a key nor a kind of login. */
export function isKeylessServer(name: string, config: Pick<OpenClawConfig, "models"> | undefined): boolean {
  const plain = canonicalProvider(name);
  if (providerFacts(plain)) return false;
  const own = Object.entries(config?.models?.providers ?? {}).find(([other]) => canonicalProvider(other) === plain)?.[1];
  if (!own?.baseUrl?.trim() || own.auth !== undefined) return false;
  return own.apiKey === undefined || (typeof own.apiKey === "string" && own.apiKey.trim() === "");
}

import type { Env } from "../../config/index.ts";

const NEXT_KEY = /rate[_ -]?limit|quota exceeded|resource[_ ]exhausted|too many requests|\b429\b/i;

/** Only after this kind of failure is the next key worth a try. */
export const wantsNextKey = (words: string): boolean => NEXT_KEY.test(words);

/**
 * All keys of a provider, for work that switches to the next key at a rate limit (transcription, vision, embeddings): the one for live tests alone,
 * else
 * the first choice, the list, the plain variable and its numbered ones, each once.
 */
export function keysInRotation(provider: string, env: Env, primary?: string): readonly string[] {
  const name = provider
    .trim()
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "_");
  const read = (variable: string): string | undefined => env[variable]?.trim() || undefined;
  const only = read(`OPENCLAW_LIVE_${name}_KEY`);
  if (only !== undefined) return [only];
  const list = read(name === "ANTHROPIC" ? "OPENCLAW_LIVE_ANTHROPIC_KEYS" : `${nameOf(name)}_API_KEYS`);
  const base = `${nameOf(name)}_API_KEY`;
  const numbered = Object.keys(env)
    .filter((variable) => variable.startsWith(`${base}_`))
    .sort();
  const found = [primary?.trim(), ...(list?.split(/[,;\s]+/) ?? []), read(base), ...numbered.map(read), ...(name === "GOOGLE" ? [read("GOOGLE_API_KEY")] : [])];
  return [...new Set(found.filter((key): key is string => key !== undefined && key !== ""))];
}

/** Google's keys are named after its models. */
const nameOf = (name: string): string => (name === "GOOGLE" ? "GEMINI" : name);

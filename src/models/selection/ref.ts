import { canonicalProvider } from "../providers/index.ts";

/** A model by name: the canonical provider, and the id as the provider writes it. */
export interface ModelRef {
  readonly provider: string;
  readonly id: string;
}

export const DEFAULT_REF: ModelRef = { provider: "anthropic", id: "claude-opus-4-6" };
export const OFFLINE_REF: ModelRef = { provider: "builtin", id: "offline" };

const ANTHROPIC_SHORT: Readonly<Record<string, string>> = {
  "opus-4.6": "claude-opus-4-6",
  "opus-4.5": "claude-opus-4-5",
  "sonnet-4.6": "claude-sonnet-4-6",
  "sonnet-4.5": "claude-sonnet-4-5",
};
const GOOGLE_PREVIEWS = new Set(["gemini-3-pro", "gemini-3-flash"]);

export const formatRef = ({ provider, id }: ModelRef): string => `${provider}/${id}`;

export const sameRef = (a: ModelRef, b: ModelRef): boolean => a.provider === b.provider && a.id.toLowerCase() === b.id.toLowerCase();

/** Canonicalizes the provider, and ids that people write differently. */
export function canonicalRef(provider: string, id: string): ModelRef {
  const name = canonicalProvider(provider);
  const wanted = id.trim();
  const lower = wanted.toLowerCase();
  if (name === "anthropic") return { provider: name, id: ANTHROPIC_SHORT[lower] ?? wanted };
  if (name === "google" && GOOGLE_PREVIEWS.has(lower)) return { provider: name, id: `${lower}-preview` };
  if (name === "openai" && /^gpt-5\.3-codex(?:-|$)/.test(lower)) return { provider: "openai-codex", id: wanted };
  return { provider: name, id: wanted };
}

/** Parses `provider/model`, split at the first slash. Undefined without a slash, or when a side is empty. */
export function parseRef(text: string): ModelRef | undefined {
  const plain = text.trim();
  const at = plain.indexOf("/");
  if (at <= 0 || plain.slice(0, at).trim() === "" || plain.slice(at + 1).trim() === "") return undefined;
  return canonicalRef(plain.slice(0, at), plain.slice(at + 1));
}

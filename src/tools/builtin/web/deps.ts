import type { Clock } from "../../../base/clock.ts";
import type { AddressLookup } from "../../../base/guarded-fetch.ts";
import type { HostPolicy } from "../../../base/host-rules.ts";
import type { OpenClawConfig, SecretInput } from "../../../config/index.ts";
import type { Documents } from "../../../media/index.ts";
import type { MarkUntrusted } from "../../untrusted/mark.ts";

/** Base addresses of services; the public ones where absent. */
export interface WebServices {
  readonly brave?: string;
  readonly perplexity?: string;
  readonly openrouter?: string;
  readonly xai?: string;
  readonly firecrawl?: string;
}

export interface WebToolsDeps {
  readonly clock: Clock;
  readonly config: () => OpenClawConfig;
  readonly mark: MarkUntrusted;
  /** Without it PDFs and office files are not shown. */
  readonly documents?: Documents;
  /** A key by the name of its environment variable: `BRAVE_API_KEY`, `PERPLEXITY_API_KEY`, `OPENROUTER_API_KEY`, `XAI_API_KEY`, `FIRECRAWL_API_KEY`. */
  readonly secret: (name: string) => string | undefined | Promise<string | undefined>;
  /** A key that the configuration gives or says where to find; `path` is where it stands there. Without it only plain texts are keys. */
  readonly resolveSecret?: (input: SecretInput, path: string) => Promise<string>;
  readonly services?: WebServices;
  /** What may be reached beyond public hosts, and how names are looked up. */
  readonly network?: { readonly policy?: HostPolicy; readonly lookup?: AddressLookup };
}

/** The key of a service: what the configuration says, then the environment's names in order. */
export async function keyOf(
  deps: Pick<WebToolsDeps, "secret" | "resolveSecret">,
  configured: { readonly input: SecretInput | undefined; readonly path: string },
  names: readonly string[],
): Promise<{ readonly key: string; readonly from: string } | undefined> {
  const { input, path } = configured;
  if (input !== undefined && input !== "") {
    const key = deps.resolveSecret ? await deps.resolveSecret(input, path) : typeof input === "string" ? input : undefined;
    if (key?.trim()) return { key: key.trim(), from: path };
  }
  for (const name of names) {
    const key = (await deps.secret(name))?.trim();
    if (key) return { key, from: name };
  }
  return undefined;
}

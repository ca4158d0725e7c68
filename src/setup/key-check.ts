import { clip } from "../base/text.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { loadChoice, loadProbe, loadProfiles, type Catalogue, type ModelEntry } from "../models/index.ts";
import type { AuthProfileCredential } from "../protocol/index.ts";
import type { SetupHost } from "./host.ts";

export interface KeyCheck {
  /** `unreachable`: nobody could be asked, so nothing is known about the key. */
  readonly checked: "accepted" | "refused" | "unreachable" | "skipped";
  /** The provider's words, or why it was not asked. */
  readonly detail?: string;
}

export interface KeyToCheck {
  readonly provider: string;
  readonly credential: AuthProfileCredential;
  /** Asked for its answer; the provider's usual one when absent. */
  readonly model?: string | undefined;
  /** The configuration that the key is for, with the provider's address in it. */
  readonly config: OpenClawConfig;
}

/** A key is tried for no longer than this. */
const CHECK_MS = 8000;
/** The least that every provider takes. */
const CHECK_TOKENS = 16;

/** Everything that is known about models under a configuration, as if there were a key for each. */
export async function catalogueFor(host: SetupHost, config: OpenClawConfig): Promise<Catalogue> {
  const { openCatalogue } = await loadChoice();
  const plugins = host.providers?.();
  return openCatalogue({ config, agentDir: host.agentDir, hasCredential: () => true, ...(plugins ? { plugins } : {}) });
}

/** The model that answers for a provider when nobody chose one. */
export async function usualModel(catalogue: Catalogue, provider: string, wanted?: string): Promise<ModelEntry | undefined> {
  const { providerFacts } = await loadChoice();
  const id = wanted ?? providerFacts(provider)?.defaultModel;
  return (
    (id === undefined ? undefined : catalogue.find({ provider, id })) ?? (wanted === undefined ? catalogue.list({ provider, absent: true })[0] : undefined)
  );
}

const secretOf = (credential: AuthProfileCredential): string =>
  credential.type === "api_key" ? (credential.key ?? "") : credential.type === "token" ? credential.token : credential.access;

/** Asks the provider one short question with the key. Never rejects. */
export async function checkKey(host: SetupHost, { provider, credential, model: wanted, config }: KeyToCheck): Promise<KeyCheck> {
  const { clock, ids, redactor, version, signal, config: live } = host;
  const secret = secretOf(credential);
  redactor.register(secret);
  const model = await usualModel(await catalogueFor(host, config), provider, wanted);
  if (!model) return { checked: "skipped", detail: `no known model of ${provider} to test with; add one to models.providers` };
  const [{ probeModel }, { createRequestAccess }] = await Promise.all([loadProbe(), loadProfiles()]);
  const access = createRequestAccess({ clock, ids, redactor, version });
  try {
    const metadata = credential.type === "api_key" ? credential.metadata : undefined;
    const { apiKey, baseUrl } = await access(provider, { apiKey: secret, type: credential.type, ...(metadata ? { metadata } : {}) }, model.baseUrl);
    const target = baseUrl === undefined ? model : { ...model, baseUrl };
    const longTail = { from: [live.paths.state, import.meta.dirname], version };
    const { status, error } = await probeModel({ model: target, apiKey, timeoutMs: CHECK_MS, maxTokens: CHECK_TOKENS, clock, signal, longTail });
    return verdict(status, error === undefined ? undefined : clip(redactor.text(error), 300));
  } catch (error) {
    return { checked: "unreachable", detail: clip(redactor.text(error instanceof Error ? error.message : String(error)), 300) };
  }
}

/** A provider that reports no credit, too many requests or a wrong model has accepted the key. */
function verdict(status: string, detail: string | undefined): KeyCheck {
  const words = detail === undefined ? {} : { detail };
  if (status === "ok") return { checked: "accepted" };
  if (status === "auth") return { checked: "refused", ...words };
  if (status === "billing" || status === "rate_limit" || status === "format") return { checked: "accepted", ...words };
  return { checked: "unreachable", ...words };
}

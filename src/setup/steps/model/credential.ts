import { AppError, messageOf } from "../../../base/errors.ts";
import { isLeft, left, type Asker } from "../../asker.ts";
import type { LoginChoice, KeyChoice } from "../../auth-choices.ts";
import type { Setup } from "../../context.ts";
import type { LoginPort, LoginResult, SetupHost } from "../../host.ts";
import { providerLabel, keyHelp } from "../../providers.ts";
import { credentialSource } from "./choice.ts";
import { askModel, modelsAt } from "./models-at.ts";
import { parseDuration } from "../../../config/index.ts";
import { loadProfiles } from "../../../models/index.ts";
import type { AuthProfileCredential } from "../../../protocol/index.ts";
import { checkKey, type KeyCheck } from "../../key-check.ts";

interface Login {
  /** What a plugin wants to answer; undefined: the provider's usual model. */
  readonly model?: string | undefined;
}

/** Ctrl-C at the prompt for the browser's address. */
const isAborted = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

/** Logs in. Undefined: it did not work, the person knows why, and may choose something else. */
async function tryLogin(host: SetupHost, ask: Asker, logins: LoginPort, provider: string): Promise<LoginResult | undefined> {
  try {
    return await logins.login(provider);
  } catch (error) {
    if (isLeft(error) || isAborted(error) || host.signal.aborted) throw left();
    await ask.note(host.redactor.text(messageOf(error)), `${providerLabel(provider)}: not logged in`);
    return undefined;
  }
}

/** A login that is there, or one that is made now. Nothing of it is stored before the draft is. */
export async function takeLogin(setup: Setup, { id, provider }: LoginChoice): Promise<Login | undefined> {
  const { host, draft, ask, notify } = setup;
  const [known] = await (await host.auth()).candidates(provider);
  const question = `Use the existing credential for ${providerLabel(provider)} (${known ? credentialSource(known.id) : ""})?`;
  if (known && (!ask || !host.logins || (await ask.confirm({ message: question, initialValue: true })))) return {};
  if (!ask || !host.logins) {
    const advice = `${id} needs a browser login; log in with: openclaw models auth login --provider ${provider}`;
    if (!ask) throw new AppError("INVALID_INPUT", advice);
    await ask.note(advice, providerLabel(provider));
    return undefined;
  }
  const made = await tryLogin(host, ask, host.logins, provider);
  if (!made) return undefined;
  for (const { profileId, credential } of made.profiles) draft.credential(profileId, credential);
  if (made.configPatch) draft.merge(made.configPatch);
  for (const note of made.notes ?? []) await notify(host.redactor.text(note));
  return { model: made.defaultModel };
}

/** A credential that is not stored yet. */
interface NewCredential {
  readonly provider: string;
  readonly profileId: string;
  readonly credential: AuthProfileCredential;
}

const MOST_TRIES = 5;

/** Checks a credential with its provider. True: it may be stored. */
async function isGood(setup: Setup, { provider, credential }: NewCredential, model: string | undefined): Promise<KeyCheck & { readonly kept: boolean }> {
  const { ask, answers, host, draft, notify } = setup;
  if (answers.skip?.health) return { checked: "skipped", kept: true };
  const label = providerLabel(provider);
  const progress = ask?.progress(`Checking with ${label}`);
  const check = await checkKey(host, { provider, credential, model, config: draft.config });
  const { checked, detail = "" } = check;
  progress?.stop(checked === "accepted" ? `${label} accepted it` : checked === "refused" ? `${label} rejected it` : `${label} could not be reached`);
  if (checked === "refused") {
    if (!ask) throw new AppError("INVALID_INPUT", `${label} rejected the key, so nothing was saved: ${detail}`);
    await ask.note(detail, `${label} rejected it`);
    return { ...check, kept: false };
  }
  if (checked === "unreachable") {
    if (ask)
      return {
        ...check,
        kept: await ask.confirm({ message: `${label} could not be reached (${detail}). Save the key without checking it?`, initialValue: true }),
      };
    await notify(`The key for ${provider} was saved without being checked: ${detail}`);
  } else if (detail !== "") await notify(`${label}: ${detail}`);
  return { ...check, kept: true };
}

/** Puts a credential into the draft once its provider takes it; asks again while it does not. */
async function keepGood(setup: Setup, make: () => Promise<NewCredential>, model: string | undefined): Promise<KeyCheck> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const made = await make();
    const { kept, ...check } = await isGood(setup, made, model);
    if (!kept) continue;
    setup.draft.credential(made.profileId, made.credential);
    return check;
  }
  throw new AppError("CANCELLED", `no key was accepted in ${MOST_TRIES} tries; no changes made`);
}

const notEmpty = (text: string): string | undefined => (text.trim() === "" ? "Required" : undefined);

/** A key that is there and shall be used as it is. */
async function existing({ ask, host }: Setup, provider: string): Promise<boolean> {
  const [candidate] = await (await host.auth()).candidates(provider);
  if (!candidate) return false;
  return (
    !ask || ask.confirm({ message: `Use the existing credential for ${providerLabel(provider)} (${credentialSource(candidate.id)})?`, initialValue: true })
  );
}

/** A provider's key: the flag's, one that is there, or one that is asked for. */
export async function takeKey(setup: Setup, choice: KeyChoice): Promise<KeyCheck | undefined> {
  const { ask, answers, host } = setup;
  const { provider, flag } = choice;
  const fromFlag = answers.keys?.[flag]?.trim();
  if (!fromFlag && (await existing(setup, provider))) return undefined;
  if (!fromFlag && !ask) throw new AppError("INVALID_INPUT", `--auth-choice ${choice.id} needs --${flag}-api-key, or a stored key (openclaw models auth add)`);
  const metadata = provider === "cloudflare-ai-gateway" ? await cloudflare(setup) : undefined;
  const help = keyHelp(provider, undefined);
  if (!fromFlag && help) await ask?.note(help, providerLabel(provider));
  return keepGood(
    setup,
    async () => {
      const key = fromFlag ?? (await ask!.password({ message: choice.label, validate: notEmpty })).trim();
      host.redactor.register(key);
      return { provider, profileId: `${provider}:default`, credential: { type: "api_key", provider, key, ...(metadata ? { metadata } : {}) } };
    },
    choice.model,
  );
}

async function cloudflare({ ask, answers }: Setup): Promise<Record<string, string>> {
  const accountId = answers.cloudflare?.accountId ?? (await ask?.text({ message: "Cloudflare account id", validate: notEmpty }));
  const gatewayId = answers.cloudflare?.gatewayId ?? (await ask?.text({ message: "Cloudflare gateway id", validate: notEmpty }));
  if (!accountId || !gatewayId)
    throw new AppError("INVALID_INPUT", "Cloudflare's gateway needs --cloudflare-ai-gateway-account-id and --cloudflare-ai-gateway-gateway-id");
  return { accountId: accountId.trim(), gatewayId: gatewayId.trim() };
}

/** A token that was made elsewhere. Returns its provider. */
export async function takeToken(setup: Setup): Promise<{ readonly provider: string; readonly check: KeyCheck }> {
  const { ask, answers, host } = setup;
  const { value, provider: named, profileId, expiresIn } = answers.token ?? {};
  const { setupTokenProblem } = await loadProfiles();
  const provider = named?.trim().toLowerCase() || "anthropic";
  const life = expiresIn === undefined ? undefined : parseDuration(expiresIn, "d");
  if (expiresIn !== undefined && !(life !== undefined && life > 0))
    throw new AppError("INVALID_INPUT", `--token-expires-in takes a duration such as 365d or 12h, not ${JSON.stringify(expiresIn)}`);
  const wrong = (token: string): string | undefined => (provider === "anthropic" ? setupTokenProblem(token.trim()) : notEmpty(token));
  const id = profileId?.trim() || `${provider}:manual`;
  if (!id.startsWith(`${provider}:`)) throw new AppError("INVALID_INPUT", `--token-profile-id must look like ${provider}:<name>, not ${JSON.stringify(id)}`);
  if (value === undefined && !ask) throw new AppError("INVALID_INPUT", "--auth-choice token needs --token and --token-provider");
  const problem = value === undefined ? undefined : wrong(value);
  if (problem !== undefined) throw new AppError("INVALID_INPUT", problem);
  const check = await keepGood(
    setup,
    async () => {
      const token = (value ?? (await ask!.password({ message: `Token for ${providerLabel(provider)}`, validate: wrong }))).trim();
      host.redactor.register(token);
      const expires = life === undefined ? {} : { expires: host.clock.now() + life };
      return { provider, profileId: id, credential: { type: "token", provider, token, ...expires } };
    },
    undefined,
  );
  return { provider, check };
}

const providerIdOf = (baseUrl: string): string => `custom-${new URL(baseUrl).host.replaceAll(/[^\w]+/g, "-").toLowerCase()}`;
const wrongUrl = (text: string): string | undefined =>
  /^https?:\/\/[^\s/]+/.test(text.trim()) && URL.canParse(text.trim()) ? undefined : "a URL such as https://models.example/v1";
const WINDOW = 128_000;
const OUTPUT = 8192;

/** A provider that only its user knows. Gives the model. */
export async function takeCustom(setup: Setup): Promise<{ readonly ref: string; readonly check?: KeyCheck }> {
  const { ask, answers, draft, host } = setup;
  const { baseUrl: url, modelId, apiKey, providerId, compatibility = "openai" } = answers.custom ?? {};
  const written = (url ?? (await ask?.text({ message: "Server URL", placeholder: "https://models.example/v1", validate: wrongUrl })))?.trim();
  if (!written || (!modelId && !ask)) throw new AppError("INVALID_INPUT", "a custom provider needs --custom-base-url and --custom-model-id");
  const wrong = wrongUrl(written);
  if (wrong !== undefined) throw new AppError("INVALID_INPUT", `--custom-base-url takes ${wrong}, not ${JSON.stringify(written)}`);
  const provider = providerId?.trim().toLowerCase() || providerIdOf(written);
  if (!/^[\w.-]+$/.test(provider))
    throw new AppError("INVALID_INPUT", `--custom-provider-id takes letters, digits, ., - and _, not ${JSON.stringify(provider)}`);
  const preset = apiKey?.trim() || host.env["CUSTOM_API_KEY"]?.trim();
  const first = preset || (ask ? (await ask.password({ message: "API key (empty if none is needed)" })).trim() : "");
  if (first !== "") host.redactor.register(first);
  const listed = ask && modelId === undefined ? await modelsAt(host, written, first) : undefined;
  const baseUrl = listed?.baseUrl ?? written;
  const model = (modelId ?? (await askModel(ask!, listed?.models ?? []))).trim();
  const api =
    answers.custom?.compatibility ??
    (ask && url === undefined && listed === undefined
      ? await ask.select<string>({
          message: "Which API is it compatible with?",
          options: [
            { value: "openai", label: "OpenAI" },
            { value: "anthropic", label: "Anthropic" },
          ],
        })
      : compatibility);
  const entry = { id: model, name: model, contextWindow: WINDOW, maxTokens: OUTPUT };
  draft.merge({
    models: {
      providers: {
        [provider]: { baseUrl: baseUrl.replace(/\/+$/, ""), api: api === "anthropic" ? "anthropic-messages" : "openai-completions", models: [entry] },
      },
    },
  });
  const ref = `${provider}/${model}`;
  if (first === "") return { ref };
  let next: string | undefined = first;
  const check = await keepGood(
    setup,
    async () => {
      const key: string = next ?? (await ask!.password({ message: "API key", validate: notEmpty })).trim();
      next = undefined;
      host.redactor.register(key);
      return { provider, profileId: `${provider}:default`, credential: { type: "api_key", provider, key } };
    },
    model,
  );
  return { ref, check };
}

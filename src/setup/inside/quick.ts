/** First steps that take one call each, in a running gateway. */
import { AppError } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import { nearest } from "../../base/text.ts";
import { isObject, type OpenClawConfig } from "../../config/index.ts";
import type { QuickSetupPort } from "../../gateway/index.ts";
import { loadChoice, loadProfiles, type AnsweringModel } from "../../models/index.ts";
import type { AuthProfileCredential } from "../../protocol/index.ts";
import { checkedAccount } from "../channel-account.ts";
import { channelOffers, findOffer, sectionWith, type ChannelOffer } from "../channel-offers.ts";
import { chosenModel, modelPatch } from "../chosen-model.ts";
import { createDraft } from "../draft.ts";
import { catalogueFor, checkKey, usualModel } from "../key-check.ts";
import { createLocalModels, localPatch, type LocalModels } from "../local-models.ts";
import { keyHelp, providerLabel } from "../providers.ts";
import { workspaceOf } from "../reset.ts";
import { credentialSource } from "../steps/model/choice.ts";
import type { SetupHost } from "../host.ts";
import { gatewayHost, type GatewayHostDeps } from "./host.ts";

export interface QuickDeps extends GatewayHostDeps {
  readonly answering: () => Promise<AnsweringModel>;
  readonly sessions: () => Promise<number>;
}

/** They need more than a key: a login, or an address. */
const NOT_BY_KEY = new Set(["minimax-portal", "qwen-portal", "chutes", "github-copilot", "cloudflare-ai-gateway", "litellm"]);
const BY = "setup page";
const LOCAL_MS = 3000;
/** A page waits for the answer; what is found later stands in the next one. */
const STATUS_LOCAL_MS = 300;

type Status = Awaited<ReturnType<QuickSetupPort["status"]>>;

/** What all of them work with. */
interface Quick {
  readonly deps: QuickDeps;
  readonly host: SetupHost;
  readonly localModels: () => Promise<LocalModels>;
  readonly offers: () => Promise<readonly ChannelOffer[]>;
}

/** Manifests are read again when the configuration changed, or after this. */
const OFFERS_MS = 10_000;

function keptOffers({ config, clock }: QuickDeps, host: SetupHost): Quick["offers"] {
  let kept: { readonly of: OpenClawConfig; readonly until: number; readonly offers: Promise<readonly ChannelOffer[]> } | undefined;
  return () => {
    if (kept?.of === config.current && clock.monotonic() < kept.until) return kept.offers;
    const offers = host.inventory().then(channelOffers);
    kept = { of: config.current, until: clock.monotonic() + OFFERS_MS, offers };
    offers.catch(() => (kept = undefined));
    return offers;
  };
}

export function createQuickSetup(deps: QuickDeps): QuickSetupPort {
  const { config, clock } = deps;
  const host = gatewayHost(deps, new AbortController().signal);
  const quick: Quick = {
    deps,
    host,
    offers: keptOffers(deps, host),
    localModels: lazy(() => createLocalModels({ clock, config: () => config.current })),
  };
  return {
    status: () => status(quick),
    key: (params) => addKey(quick, params),
    local: (params) => useLocal(quick, params),
    channel: (params) => addChannel(quick, params),
  };
}

async function status(quick: Quick): Promise<Status> {
  const { deps, host, localModels } = quick;
  const [answering, offered, servers, platforms, sessions] = await Promise.all([
    deps.answering(),
    providers(quick),
    localModels().then((models) => models.look(undefined, STATUS_LOCAL_MS)),
    channels(quick),
    deps.sessions(),
  ]);
  return {
    answering: { ...answering },
    providers: offered,
    local: servers.map((server) => ({ ...server, models: [...server.models] })),
    channels: platforms,
    workspace: workspaceOf(host),
    sessions,
  };
}

async function providers({ host }: Quick): Promise<Status["providers"]> {
  const [{ PROVIDERS }, auth] = await Promise.all([loadChoice(), host.auth()]);
  const offered = PROVIDERS.filter(({ id, api, anyKey, ambient, env }) => api !== "" && !anyKey && !ambient && env.length > 0 && !NOT_BY_KEY.has(id));
  return Promise.all(
    offered.map(async ({ id, defaultModel, note }) => {
      const [first] = await auth.candidates(id);
      const help = keyHelp(id, note);
      return {
        id,
        label: providerLabel(id),
        hasKey: first !== undefined,
        ...(first ? { from: credentialSource(first.id) } : {}),
        ...(help === undefined ? {} : { help }),
        ...(defaultModel === undefined ? {} : { model: `${id}/${defaultModel}` }),
      };
    }),
  );
}

async function channels({ deps, offers }: Quick): Promise<Status["channels"]> {
  return (await offers()).map(({ id, label, help, steps, fields, off }) => {
    const section = deps.config.current.channels?.[id];
    const said = off === undefined ? help : `It is off: ${off}.`;
    return {
      id,
      label,
      configured: isObject(section) && Object.keys(section).some((key) => key !== "enabled"),
      enabled: isObject(section) && section["enabled"] !== false && off === undefined,
      ...(said === undefined ? {} : { help: said }),
      steps: [...steps],
      fields: fields.map((field) => {
        const set = isObject(section) ? section[field.path] : undefined;
        return field.choices && typeof set === "string" ? { ...field, value: set } : field;
      }),
    };
  });
}

type Params<M extends "key" | "local" | "channel"> = Parameters<QuickSetupPort[M]>[0];
type Answer<M extends "key" | "local" | "channel"> = Awaited<ReturnType<QuickSetupPort[M]>>;

/** `key` is a new key; without it, the stored one is used. */
async function keyOf(
  { deps, host }: Quick,
  provider: string,
  key: string | undefined,
): Promise<{ readonly credential: AuthProfileCredential; readonly profileId?: string }> {
  if (key !== undefined) {
    deps.redactor.register(key.trim());
    return credentialFor(provider, key.trim());
  }
  const auth = await host.auth();
  const [first] = await auth.candidates(provider);
  const secret = first && (await auth.credential(first)).apiKey;
  if (!first || secret === undefined) throw new AppError("NOT_FOUND", `no key for ${providerLabel(provider)} yet; enter one`);
  return { credential: first.type === "token" ? { type: "token", provider, token: secret } : { type: "api_key", provider, key: secret } };
}

async function addKey(quick: Quick, { provider: named, key, model, check = true }: Params<"key">): Promise<Answer<"key">> {
  const { deps, host } = quick;
  const draft = createDraft(host);
  const provider = await knownProvider(deps, named);
  const { profileId, credential } = await keyOf(quick, provider, key);
  const ref = await modelFor(host, provider, model);
  const before = await deps.answering();
  const id = ref?.slice(provider.length + 1);
  const checked = check ? await checkKey(host, { provider, credential, model: id, config: draft.config }) : { checked: "skipped" as const };
  if (checked.checked === "refused") return { ok: true, provider, model: before.model ?? "", ...checked };
  if (profileId !== undefined) draft.credential(profileId, credential);
  const chosen = await chosenModel(draft.config);
  const takesOver = model !== undefined || ((before.offline || chosen === undefined) && (checked.checked !== "unreachable" || before.model === null));
  // With the key there, another model would be taken by itself: what goes on answering has to be named.
  const stays = chosen === undefined && profileId !== undefined ? (before.model ?? undefined) : undefined;
  const answers = takesOver && ref !== undefined ? ref : stays;
  if (answers !== undefined) draft.merge(await modelPatch(draft.config, answers));
  if (answers !== undefined || profileId !== undefined) await draft.commit(BY);
  const after = await deps.answering();
  return { ok: true, provider, model: after.model ?? "", ...(ref === undefined || after.model === ref ? {} : { offered: ref }), ...checked };
}

async function useLocal({ deps, host }: Quick, { id, url, model }: Params<"local">): Promise<Answer<"local">> {
  const { config, clock } = deps;
  const draft = createDraft(host);
  const { listModels, providerFacts } = await loadChoice();
  const { provider } = await localPatch({ provider: id, model, url });
  const facts = providerFacts(provider)!;
  const baseUrl = url?.trim() || config.current.models?.providers?.[provider]?.baseUrl || facts.baseUrl;
  const listed = await listModels({ kind: facts.listing ?? "openai", baseUrl, timeoutMs: LOCAL_MS, clock });
  const found = listed.find((one) => one.id === model);
  if (!found) {
    const names = listed.map((one) => one.id).join(", ") || "none";
    throw new AppError("NOT_FOUND", `${providerLabel(provider)} at ${baseUrl} has no model ${JSON.stringify(model)}; it has ${names}`);
  }
  const { ref, patch } = await localPatch({ provider, model, url: baseUrl, contextWindow: found.contextWindow });
  draft.merge(patch);
  draft.merge(await modelPatch(draft.config, ref));
  await draft.commit(BY);
  return { ok: true, model: ref };
}

async function addChannel({ deps, host, offers }: Quick, { channel, accountId: account, fields }: Params<"channel">): Promise<Answer<"channel">> {
  const offer = findOffer(await offers(), channel.trim().toLowerCase());
  const accountId = checkedAccount(account?.trim() || "default");
  const draft = createDraft(host);
  draft.merge({ channels: { [offer.id]: sectionWith(offer, draft.config, accountId, fields) } });
  const { allow, entries } = draft.config.plugins ?? {};
  if (allow && allow.length > 0 && !allow.includes(offer.pluginId)) draft.merge({ plugins: { allow: [...allow, offer.pluginId] } });
  if (entries?.[offer.pluginId]?.enabled === false) draft.merge({ plugins: { entries: { [offer.pluginId]: { enabled: true } } } });
  const reload = draft.reload(await deps.config.review());
  await draft.commit(BY);
  return { ok: true, channel: offer.id, accountId, reload };
}

async function knownProvider({ config, providers: brought }: QuickDeps, named: string): Promise<string> {
  const { canonicalProvider, PROVIDERS } = await loadChoice();
  const provider = canonicalProvider(named);
  const names = [...PROVIDERS.map(({ id }) => id), ...Object.keys(config.current.models?.providers ?? {}), ...brought().map(({ id }) => id)];
  if (names.some((name) => canonicalProvider(name) === provider)) return provider;
  const close = nearest(provider, names);
  throw new AppError(
    "NOT_FOUND",
    `there is no provider ${JSON.stringify(named)}${close ? `; did you mean ${close}?` : "; openclaw models list --all shows them"}`,
  );
}

/** `provider/id` of the model that shall answer; undefined when none of the provider is known. Throws for one that nobody knows. */
async function modelFor(host: SetupHost, provider: string, wanted: string | undefined): Promise<string | undefined> {
  const catalogue = await catalogueFor(host, host.config.current);
  if (wanted === undefined) {
    const usual = await usualModel(catalogue, provider);
    return usual && `${provider}/${usual.id}`;
  }
  const id = wanted.startsWith(`${provider}/`) ? wanted.slice(provider.length + 1) : wanted;
  return `${provider}/${catalogue.get({ provider, id }).id}`;
}

/** What is pasted may also be one of Anthropic's setup-tokens. */
async function credentialFor(provider: string, key: string): Promise<{ readonly profileId: string; readonly credential: AuthProfileCredential }> {
  if (key === "") throw new AppError("INVALID_INPUT", "Required");
  if (/[\s\p{Cc}]/u.test(key)) throw new AppError("INVALID_INPUT", "the key contains spaces or line breaks; copy only the key");
  const { setupTokenProblem } = await loadProfiles();
  if (provider === "anthropic" && setupTokenProblem(key) === undefined) {
    return { profileId: "anthropic:manual", credential: { type: "token", provider, token: key } };
  }
  return { profileId: `${provider}:default`, credential: { type: "api_key", provider, key } };
}

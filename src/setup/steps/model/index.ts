import { AppError } from "../../../base/errors.ts";
import { loadChoice } from "../../../models/index.ts";
import type { AuthChoice } from "../../auth-choices.ts";
import { chosenModel, modelPatch } from "../../chosen-model.ts";
import type { Setup } from "../../context.ts";
import { catalogueFor, usualModel } from "../../key-check.ts";
import { createLocalModels, localPatch } from "../../local-models.ts";
import { providerLabel } from "../../providers.ts";
import { askChoice, choiceFromFlags } from "./choice.ts";
import { takeCustom, takeKey, takeToken, takeLogin } from "./credential.ts";

export interface ModelSummary {
  readonly authChoice: string;
  /** What was chosen to answer; undefined: as it was, or whatever is there. */
  readonly model?: string;
}

const MOST_SHOWN = 60;

/** Which model of a provider answers: its usual one, or one that is picked from its list. */
async function modelOf(setup: Setup, provider: string, wanted: string | undefined): Promise<string> {
  const { ask, draft, flow } = setup;
  const catalogue = await catalogueFor(setup.host, draft.config);
  const usual = await usualModel(catalogue, provider, wanted);
  const models = catalogue.list({ provider, absent: true });
  if (ask && flow === "advanced" && models.length > 1) {
    const first = usual ? [usual, ...models.filter(({ id }) => id !== usual.id)] : models;
    const options = first.slice(0, MOST_SHOWN).map(({ id, name }) => ({ value: id, label: id, ...(name === id ? {} : { hint: name }) }));
    return `${provider}/${await ask.select({ message: "Default model", options, initialValue: options[0]?.value })}`;
  }
  if (usual) return `${provider}/${usual.id}`;
  return named(setup, provider, wanted);
}

/** A provider whose models only its user knows: the one that is usual there is written down. */
async function named({ draft, ask }: Setup, provider: string, wanted: string | undefined): Promise<string> {
  const { providerFacts } = await loadChoice();
  const facts = providerFacts(provider);
  const id = wanted ?? facts?.defaultModel ?? (await ask?.text({ message: `Model id of ${providerLabel(provider)}` }))?.trim();
  if (!facts?.baseUrl || !id) throw new AppError("INVALID_INPUT", `no known model of ${provider}; set its URL and a model in models.providers.${provider}`);
  draft.merge({ models: { providers: { [provider]: { baseUrl: facts.baseUrl, api: facts.api, models: [{ id, name: id }] } } } });
  return `${provider}/${id}`;
}

/** A model on this machine: of the server that is named, or of any that answers. */
async function takeLocal(setup: Setup, provider: string | undefined): Promise<string | undefined> {
  const { ask, answers, host, draft } = setup;
  const local = await createLocalModels({ clock: host.clock, config: () => draft.config });
  const { baseUrl: url, modelId } = answers.custom ?? {};
  const servers = (await local.look(host.signal)).filter(({ id, running }) => running && (provider === undefined || id === provider));
  const found = servers.flatMap((server) => server.models.map((model) => ({ server, model })));
  const first = found.find(({ model }) => modelId === undefined || model === modelId);
  if (provider !== undefined && modelId !== undefined && !first) {
    const { ref, patch } = await localPatch({ provider, model: modelId, url });
    draft.merge(patch);
    return ref;
  }
  if (!first) {
    const advice = `no models found on this machine; start ${provider ? providerLabel(provider) : "Ollama, LM Studio, vLLM or llama.cpp"} with a model, then try again`;
    if (!ask) throw new AppError("UNAVAILABLE", `${advice}, or use --custom-base-url and --custom-model-id`);
    await ask.note(advice, "No models found");
    return undefined;
  }
  const at = ask
    ? await ask.select<number>({
        message: "Model",
        options: found.map(({ server, model }, value) => ({ value, label: model, hint: `${server.label}, ${server.url}` })),
        initialValue: 0,
      })
    : found.indexOf(first);
  const { server, model } = found[at] ?? first;
  const { ref, patch } = await localPatch({ provider: server.id, model, url: server.url, contextWindow: local.entry(server.id, model)?.contextWindow });
  draft.merge(patch);
  return ref;
}

/** Gives the model that a choice leads to; undefined when nothing came of it; null for none. */
async function follow(setup: Setup, choice: AuthChoice): Promise<string | null | undefined> {
  const { draft } = setup;
  switch (choice.kind) {
    case "skip":
      return null;
    case "key": {
      if (choice.baseUrl !== undefined) draft.merge({ models: { providers: { [choice.provider]: { baseUrl: choice.baseUrl, models: [] } } } });
      await takeKey(setup, choice);
      return modelOf(setup, choice.provider, choice.model);
    }
    case "login": {
      const login = await takeLogin(setup, choice);
      return login && (login.model ?? modelOf(setup, choice.provider, undefined));
    }
    case "token": {
      const { provider } = await takeToken(setup);
      return modelOf(setup, provider, undefined);
    }
    case "custom":
      return (await takeCustom(setup)).ref;
    default:
      return takeLocal(setup, choice.provider);
  }
}

/** Which model answers, and with what credential. Nothing is stored before the draft is. */
export async function setUpModel(setup: Setup): Promise<ModelSummary> {
  const { ask, answers, keep, draft } = setup;
  let fromFlags = choiceFromFlags(answers);
  const before = await chosenModel(draft.config);
  const unchanged = (authChoice: string): ModelSummary => ({ authChoice, ...(before === undefined ? {} : { model: before }) });
  if (fromFlags === undefined && keep && before !== undefined) return unchanged("skip");
  for (;;) {
    const choice = fromFlags ?? (ask && (await askChoice(setup, ask)));
    if (!choice) return unchanged("skip");
    const ref = await follow(setup, choice);
    if (ref === null) return unchanged(choice.id);
    if (ref === undefined) {
      fromFlags = undefined;
      continue;
    }
    draft.merge(await modelPatch(draft.config, ref));
    return { authChoice: choice.id, model: ref };
  }
}

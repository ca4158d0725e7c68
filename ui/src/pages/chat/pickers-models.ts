import type { MethodResult } from "openclaw/client";

type Model = MethodResult<"models.list">["models"][number];
type Defaults = MethodResult<"sessions.list">["defaults"];
type Provider = MethodResult<"setup.status">["providers"][number];

/** A model that can be chosen. */
export interface ModelChoice {
  /** `provider/id`: what `sessions.patch` takes. */
  readonly ref: string;
  readonly name: string;
  readonly provider: string;
  readonly contextWindow: number | undefined;
  readonly reasoning: boolean;
  /** Undefined where nobody can tell: a provider of the configuration's own, or one that needs none. */
  readonly hasKey: boolean | undefined;
}

/** Numbers by their size: `Model 2` stands before `Model 10`. */
const byName = new Intl.Collator(undefined, { numeric: true });

/** Those that surely answer, those that may, those that cannot. */
const rank = ({ provider, hasKey }: ModelChoice, current: string | undefined): number => {
  if (hasKey === true || current?.startsWith(`${provider}/`)) return 0;
  return hasKey === undefined ? 1 : 2;
};

/** The models in the order of their use: the current one, those that can answer, the others. */
export function modelChoices(models: readonly Model[], providers: readonly Provider[], current: string | undefined): readonly ModelChoice[] {
  const keys = new Map(providers.map(({ id, hasKey }) => [id, hasKey]));
  return models
    .map(({ id, name, provider, contextWindow, reasoning, hasKey }) => ({
      ref: `${provider}/${id}`,
      name,
      provider,
      contextWindow,
      reasoning: reasoning ?? false,
      // The model's own entry knows of servers that need none; older gateways report providers only.
      hasKey: hasKey ?? keys.get(provider),
    }))
    .toSorted(
      (a, b) =>
        Number(b.ref === current) - Number(a.ref === current) ||
        rank(a, current) - rank(b, current) ||
        (a.provider < b.provider ? -1 : a.provider > b.provider ? 1 : 0) ||
        byName.compare(a.name, b.name) ||
        byName.compare(a.ref, b.ref),
    );
}

/** A model that was chosen for one conversation. `hasKey`: as far as that is known. */
export interface ChosenModel {
  readonly model: string;
  readonly hasKey: boolean | undefined;
}

/** The model of a conversation, where it is neither the configured one nor the one that answers everywhere else. */
export function chosenModel(
  model: string,
  { defaults, answering }: { readonly defaults: Pick<Defaults, "modelProvider" | "model">; readonly answering?: { readonly model: string | null } | undefined },
  choices: readonly ModelChoice[] | undefined,
): ChosenModel | undefined {
  const usual = [answering?.model, [defaults.modelProvider, defaults.model].filter(Boolean).join("/")];
  return model === "" || usual.includes(model) ? undefined : { model, hasKey: choices?.find(({ ref }) => ref === model)?.hasKey };
}

/** Those that have every word in their name or id. */
export function modelsWith(choices: readonly ModelChoice[], words: string): readonly ModelChoice[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter(({ ref, name }) => wanted.every((word) => `${ref} ${name}`.toLowerCase().includes(word)));
}

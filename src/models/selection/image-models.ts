import type { ModelEntry } from "../entry.ts";
import { DEFAULT_REF, sameRef, type ModelRef } from "./ref.ts";
import { selectModel, type SelectionInput } from "./select.ts";
import { aliasesOf, choiceOf, readRef } from "./settings.ts";

/** Default models for images, in order, if there is a credential. */
const STANDARD: readonly ModelRef[] = [{ provider: "openai", id: "gpt-5-mini" }, DEFAULT_REF];

/**
 * Models that can describe an image, best first: the requested one alone; else the image model and its fallbacks; else models with vision at the main
 * provider, then the defaults.
 */
export function imageModels(input: SelectionInput, asked?: string): readonly ModelEntry[] {
  const { config, catalogue, hasCredential } = input;
  if (asked?.trim()) return [selectModel({ ...input, override: asked }).entry];
  const { primary, fallbacks = [] } = choiceOf(config.agents?.defaults?.imageModel);
  const aliases = aliasesOf(config);
  const named = [...(primary === undefined ? [] : [primary]), ...fallbacks].flatMap((name) => readRef(name, aliases, DEFAULT_REF.provider)?.ref ?? []);
  const configured = named.flatMap((ref) => catalogue.find(ref) ?? []);
  if (configured.length > 0) return unique(configured);
  const { entry } = selectModel(input);
  const sees = (model: ModelEntry): boolean => model.input.includes("image");
  const own = sees(entry) ? entry : catalogue.list({ provider: entry.provider }).find(sees);
  const standard = STANDARD.filter(({ provider }) => hasCredential(provider)).flatMap((ref) => catalogue.find(ref) ?? []);
  return unique([...(own ? [own] : []), ...standard.filter(sees)]);
}

const unique = (models: readonly ModelEntry[]): readonly ModelEntry[] =>
  models.filter((model, at) => models.findIndex((other) => sameRef(other, model)) === at);

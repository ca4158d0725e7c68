import type { OpenClawConfig } from "../config/index.ts";
import { loadChoice } from "../models/index.ts";

/** The default model of agents; undefined when none is configured. */
export async function chosenModel(config: OpenClawConfig): Promise<string | undefined> {
  const { choiceOf } = await loadChoice();
  return choiceOf(config.agents?.defaults?.model).primary;
}

/** Makes `ref` the model that answers. A list of allowed models has to name it; without a list there is nothing to add to. */
export async function modelPatch(config: OpenClawConfig, ref: string): Promise<Readonly<Record<string, unknown>>> {
  const { parseRef, sameRef } = await loadChoice();
  const wanted = parseRef(ref);
  const keys = Object.keys(config.agents?.defaults?.models ?? {});
  const isNamed = keys.some((name) => {
    const known = parseRef(name);
    return known !== undefined && wanted !== undefined && sameRef(known, wanted);
  });
  return { agents: { defaults: { model: { primary: ref }, ...(keys.length === 0 || isNamed ? {} : { models: { [ref]: {} } }) } } };
}

import { loadChoice, type ModelRef } from "../../../models/index.ts";
import type { CommandPorts, ListedModel } from "../ports.ts";
import { bestMatch } from "./match.ts";

export const formatRef = ({ provider, id }: ModelRef): string => `${provider}/${id}`;

export type ChosenModel =
  | { readonly ref: ModelRef; readonly alias?: string }
  /** The text for the user. */
  | { readonly refused: string };

/** What can be chosen for an agent, and how what users type is read. */
export interface ModelChooser {
  readonly standard: ModelRef;
  /** Allowed ones. */
  readonly models: readonly ListedModel[];
  aliasOf(ref: ModelRef): string | undefined;
  /** By alias, reference or id, nothing else. */
  exact(text: string): ModelRef | undefined;
  /** Also by something like its name. */
  choose(text: string): ChosenModel;
}

export async function modelChooser(ports: CommandPorts, agentId: string): Promise<ModelChooser> {
  const { aliasesOf, allowlistOf, notAllowedText, readRef, sameRef } = await loadChoice();
  const config = ports.config.current();
  const [known, standard] = await Promise.all([ports.models.list(agentId), ports.models.standard(agentId)]);
  const aliases = aliasesOf(config);
  const allowlist = allowlistOf(config, standard);
  // What the configuration names may be used even where no list knows it.
  const named = allowlist.refs.filter((ref) => !known.some((model) => sameRef(model, ref)));
  const models = [...known.filter((model) => allowlist.allows(model)), ...named];
  const found = (ref: ModelRef): ModelRef | undefined => {
    const model = models.find((one) => sameRef(one, ref)) ?? (sameRef(ref, standard) ? standard : undefined);
    return model && { provider: model.provider, id: model.id };
  };
  const aliasOf = (ref: ModelRef): string | undefined => [...aliases].find(([, other]) => sameRef(other, ref))?.[0];

  function exact(text: string): ModelRef | undefined {
    const read = readRef(text, aliases, standard.provider);
    return read && (found(read.ref) ?? (read.via === "alias" && allowlist.allows(read.ref) ? read.ref : undefined));
  }

  function choose(text: string): ChosenModel {
    const ref = exact(text) ?? bestMatch(text, models, standard.provider);
    if (ref) {
      const alias = aliasOf(ref);
      return { ref: { provider: ref.provider, id: ref.id }, ...(alias === undefined ? {} : { alias }) };
    }
    const read = readRef(text, aliases, standard.provider);
    if (read && !allowlist.allows(read.ref)) return { refused: notAllowedText(read.ref) };
    return { refused: `Unknown model "${text.slice(0, 80)}". For the available models: /models` };
  }

  return { standard, models, aliasOf, exact, choose };
}

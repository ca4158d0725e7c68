import type { ThinkingLevel } from "../../../protocol/index.ts";
import type { Handling } from "../handling.ts";
import { formatRef, modelChooser, type ModelChooser } from "./choose.ts";
import { providerList } from "./list.ts";
import { overrideFor } from "./override.ts";
import { buttonsFor, type Shown } from "../../buttons.ts";

const MOST_MODELS = 40;

/** What is used, and how each provider is reached. Credentials by their labels. */
async function modelStatus({ ports, call, key }: Handling, { models, standard, aliasOf }: ModelChooser): Promise<string> {
  const current = await ports.models.current(key, call.agentId);
  const providers = (await ports.models.providers?.(call.agentId)) ?? [];
  const lines = providers.map(({ id, baseUrl, api, profiles }) => {
    const auth = profiles.length === 0 ? "no credential" : profiles.map((profile) => `${profile.id}: ${profile.label}`).join(", ");
    return `- ${[id, baseUrl, api, auth].filter((part) => part !== undefined).join(" · ")}`;
  });
  const named = models.slice(0, MOST_MODELS).map((model) => {
    const alias = aliasOf(model);
    return `- ${formatRef(model)}${alias === undefined ? "" : ` (${alias})`}`;
  });
  const rest = models.length - named.length;
  return ports.redact(
    [
      `Current: ${formatRef(current)}`,
      ...(current.problem === undefined ? [] : [`⚠️ ${current.problem}`]),
      `Default: ${formatRef(standard)}`,
      `Agent: ${call.agentId}`,
      ...(lines.length === 0 ? [] : ["Providers:", ...lines]),
      ...(named.length === 0 ? [] : ["Models:", ...named]),
      ...(rest > 0 ? [`and ${rest} more: /models`] : []),
    ].join("\n"),
  );
}

/** `/model`, with what followed it. */
export async function modelDirective(handling: Handling, typed: string | undefined): Promise<Shown> {
  const { ports, call, key } = handling;
  const word = typed?.trim() ?? "";
  if (word === "") return current(handling);
  const chooser = await modelChooser(ports, call.agentId);
  if (word.toLowerCase() === "list") return providerList(chooser);
  if (word.toLowerCase() === "status") return { text: await modelStatus(handling, chooser) };
  if (/^#?\d+$/.test(word)) return { text: "Models cannot be chosen by number. List them with /models and choose one with /model provider/model." };
  const { name, profile } = profileOf(word);
  const chosen = name.toLowerCase() === "default" ? { ref: chooser.standard } : chooser.choose(name);
  if ("refused" in chosen) return { text: chosen.refused };
  const unknown = profile === undefined ? undefined : await unknownProfile(handling, chosen.ref.provider, profile);
  if (unknown !== undefined) return { text: unknown };
  const before = await ports.models.current(key, call.agentId);
  const lowered = await levelAfter(handling, chosen.ref);
  await ports.session.patch(key, call.agentId, { ...overrideFor(chosen.ref, chooser.standard, profile), ...(lowered ? { thinkingLevel: lowered } : {}) });
  const ref = formatRef(chosen.ref);
  if (formatRef(before) !== ref) await ports.systemEvent?.(key, `The model of this session is now ${ref}.`);
  return { text: acknowledgement(chosen, ref, chooser, profile, lowered) };
}

function acknowledgement(
  chosen: { readonly alias?: string },
  ref: string,
  { standard }: ModelChooser,
  profile: string | undefined,
  lowered: ThinkingLevel | undefined,
): string {
  const isStandard = ref === formatRef(standard);
  const name = chosen.alias === undefined ? ref : `${chosen.alias} (${ref})`;
  const text = isStandard ? `Model reset to the default (${ref}).` : `Model set to ${name}.`;
  return [text, profile === undefined ? "" : `Credential: ${profile}.`, lowered ? `Thinking lowered to ${lowered}, the highest level of this model.` : ""]
    .filter(Boolean)
    .join(" ");
}

async function current({ ports, call, key }: Handling): Promise<Shown> {
  const { problem, ...ref } = await ports.models.current(key, call.agentId);
  const text = [
    `Model: ${formatRef(ref)}`,
    ...(problem === undefined ? [] : [`⚠️ ${problem}`]),
    "Switch: /model provider/model",
    "Browse: /models",
    "More: /model status",
  ].join("\n");
  return buttonsFor(text, [[{ text: "Browse providers", command: "/models" }]]);
}

/** What stands behind the last `@` is a credential, unless it is a date, which ids of models end with. */
function profileOf(word: string): { readonly name: string; readonly profile?: string } {
  const at = word.lastIndexOf("@");
  if (at <= 0 || at === word.length - 1 || /^\d{8}$/.test(word.slice(at + 1))) return { name: word };
  return { name: word.slice(0, at), profile: word.slice(at + 1) };
}

async function unknownProfile({ ports, call }: Handling, provider: string, profile: string): Promise<string | undefined> {
  const own = (await ports.models.providers?.(call.agentId))?.find(({ id }) => id === provider);
  if (own?.profiles.some(({ id }) => id === profile)) return undefined;
  const known = own?.profiles.map(({ id }) => id) ?? [];
  return `Unknown credential "${profile.slice(0, 80)}" for ${provider}. ${known.length === 0 ? "There is none." : `There is: ${known.join(", ")}.`}`;
}

/** The level that the session's own becomes with another model; undefined when it stays. */
async function levelAfter({ ports, key }: Handling, ref: { readonly provider: string; readonly id: string }): Promise<ThinkingLevel | undefined> {
  const level = (await ports.session.read(key))?.["thinkingLevel"];
  return level === "xhigh" && !(await ports.models.levels(ref)).includes("xhigh") ? "high" : undefined;
}

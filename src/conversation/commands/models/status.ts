import type { Handling } from "../handling.ts";
import { formatRef, type ModelChooser } from "./choose.ts";

const MOST_MODELS = 40;

/** What is used, and how each provider is reached. Credentials by their labels. */
export async function modelStatus({ ports, call, key }: Handling, { models, standard, aliasOf }: ModelChooser): Promise<string> {
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

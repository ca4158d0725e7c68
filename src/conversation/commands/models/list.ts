import { wordsOf, type Handling } from "../handling.ts";
import { formatRef, modelChooser, type ModelChooser } from "./choose.ts";
import { buttonsFor, type Shown } from "../../buttons.ts";

const PAGE = 20;
const MOST_PER_PAGE = 100;
const BUTTONS_PER_ROW = 2;

/** Providers and how many models each has. */
export function providerList({ models }: ModelChooser): Shown {
  const counts = new Map<string, number>();
  for (const { provider } of models) counts.set(provider, (counts.get(provider) ?? 0) + 1);
  if (counts.size === 0) return { text: "No models available yet. Add a credential with `openclaw models auth`." };
  const rows = [...counts].sort(([a], [b]) => a.localeCompare(b, "en"));
  const text = ["**Providers**", ...rows.map(([provider, number]) => `- ${provider} (${number})`), "Models of a provider: /models <provider>"].join("\n");
  const buttons = rows.map(([provider, number]) => ({ text: `${provider} (${number})`, command: `/models ${provider}` }));
  return buttonsFor(text, inRows(buttons));
}

/** `/models [provider] [page] [page=n] [limit=n] [all]`. */
export async function models({ ports, call, args }: Handling): Promise<Shown> {
  const chooser = await modelChooser(ports, call.agentId);
  const words = wordsOf(args);
  const wanted = words[0]?.toLowerCase();
  if (wanted === undefined) return providerList(chooser);
  const own = chooser.models.filter(({ provider }) => provider.toLowerCase() === wanted);
  if (own.length === 0) return { text: [`No models of "${wanted.slice(0, 60)}".`, providerList(chooser).text].join("\n") };
  const { page, limit } = paging(words.slice(1), own.length);
  const pages = Math.ceil(own.length / limit);
  const at = Math.min(page, pages);
  const shown = own.slice((at - 1) * limit, at * limit);
  const more = at < pages ? `Next: /models ${wanted} ${at + 1}` : undefined;
  const head = `**${wanted}**: ${own.length} ${own.length === 1 ? "model" : "models"}${pages > 1 ? `, page ${at} of ${pages}` : ""}`;
  const lines = shown.map((model) => {
    const alias = chooser.aliasOf(model);
    return `- ${formatRef(model)}${alias === undefined ? "" : ` (${alias})`}`;
  });
  const text = [head, ...lines, more, "Choose: /model provider/model"].filter((line) => line !== undefined).join("\n");
  const turn = [
    ...(at > 1 ? [{ text: "« Back", command: `/models ${wanted} ${at - 1}` }] : []),
    ...(at < pages ? [{ text: "Next »", command: `/models ${wanted} ${at + 1}` }] : []),
  ];
  return buttonsFor(text, [...shown.map((model) => [{ text: model.id, command: `/model ${formatRef(model)}` }]), turn]);
}

function paging(words: readonly string[], total: number): { readonly page: number; readonly limit: number } {
  let page = 1;
  let limit = PAGE;
  for (const word of words) {
    const [, key = "page", digits] = /^(?:(page|limit)[=:])?(\d{1,6})$/i.exec(word) ?? [];
    const number = Math.max(1, Number(digits ?? 1));
    if (word.toLowerCase() === "all") limit = Math.max(total, 1);
    else if (digits !== undefined && key.toLowerCase() === "limit") limit = Math.min(MOST_PER_PAGE, number);
    else if (digits !== undefined) page = number;
  }
  return { page, limit };
}

function inRows<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / BUTTONS_PER_ROW) }, (_, row) => items.slice(row * BUTTONS_PER_ROW, (row + 1) * BUTTONS_PER_ROW));
}

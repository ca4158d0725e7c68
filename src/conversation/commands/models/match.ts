/** Finding the model that was meant. */
import { nearest } from "../../../base/text.ts";
import type { ListedModel } from "../ports.ts";

/** From here on a match counts. */
const THRESHOLD = 0.7;
const MOST_CHARS = 128;

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "");
const tokens = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((token) => token !== "");

/** How well what was typed fits a name: 1 is the name itself, below the threshold it is another one. */
export function score(typed: string, name: string): number {
  const [wanted, held] = [plain(typed), plain(name)];
  if (wanted === "" || held === "") return 0;
  if (wanted === held) return 1;
  if (held.startsWith(wanted)) return 0.9;
  if (held.includes(wanted)) return 0.8;
  const parts = new Set(tokens(name));
  const words = tokens(typed);
  return words.length > 1 && words.every((word) => parts.has(word) || held.includes(word)) ? 0.75 : 0;
}

/** The best match; among equals one of the preferred provider, then the newest by number. A slip of the finger is forgiven. */
export function bestMatch(typed: string, models: readonly ListedModel[], preferred: string): ListedModel | undefined {
  const wanted = typed.slice(0, MOST_CHARS);
  let best: { readonly model: ListedModel; readonly points: number } | undefined;
  for (const model of models) {
    const points = Math.max(
      score(wanted, model.id),
      score(wanted, `${model.provider}/${model.id}`) - 0.01,
      model.name === undefined ? 0 : score(wanted, model.name) - 0.02,
    );
    if (points >= THRESHOLD && (!best || points > best.points || (points === best.points && isBetter(model, best.model, preferred)))) best = { model, points };
  }
  if (best) return best.model;
  const close =
    wanted.length < 5
      ? undefined
      : nearest(
          wanted,
          models.map(({ id }) => id),
        );
  return models.find(({ id }) => id === close);
}

function isBetter(model: ListedModel, other: ListedModel, preferred: string): boolean {
  if ((model.provider === preferred) !== (other.provider === preferred)) return model.provider === preferred;
  if (model.id.length !== other.id.length) return model.id.length < other.id.length;
  return model.id.localeCompare(other.id, "en", { numeric: true }) > 0;
}

/** Models that a server lists: OpenAI-compatible (`/models`) or Ollama (`/api/tags`). */
import type { Asker } from "../../asker.ts";
import type { SetupHost } from "../../host.ts";
import { loadChoice } from "../../../models/index.ts";

const WAIT_MS = 4000;
const MOST_SHOWN = 200;
const OTHER = "\0other";

export interface ListedServer {
  /** The URL that model requests go to. */
  readonly baseUrl: string;
  readonly models: readonly string[];
}

/** Asks the server for its models, at the URL and below `/v1`. Undefined when it lists none. */
export async function modelsAt({ clock, signal }: Pick<SetupHost, "clock" | "signal">, url: string, apiKey: string): Promise<ListedServer | undefined> {
  const { listModels } = await loadChoice();
  const root = url.replace(/\/+$/, "");
  const below = /\/v\d+$/.test(root) ? root : `${root}/v1`;
  const ways = [
    { kind: "openai", ask: root, baseUrl: root },
    ...(below === root ? [] : [{ kind: "openai", ask: below, baseUrl: below } as const]),
    { kind: "ollama", ask: root, baseUrl: below },
  ] as const;
  for (const { kind, ask, baseUrl } of ways) {
    try {
      const models = await listModels({ kind, baseUrl: ask, timeoutMs: WAIT_MS, clock, signal, ...(apiKey === "" ? {} : { apiKey }) });
      if (models.length > 0) return { baseUrl, models: models.map(({ id }) => id) };
    } catch {
      // Not every server lists its models: the user then enters the id.
    }
  }
  return undefined;
}

const required = (text: string): string | undefined => (text.trim() === "" ? "Required" : undefined);

/** Lets the user pick one of the listed models, or enter an id. */
export async function askModel(ask: Asker, models: readonly string[]): Promise<string> {
  const enter = (): Promise<string> => ask.text({ message: "Model id", validate: required });
  if (models.length === 0) return enter();
  const options = models.slice(0, MOST_SHOWN).map((id) => ({ value: id, label: id }));
  const chosen = await ask.select({ message: "Model", options: [...options, { value: OTHER, label: "Other (enter a model id)" }], initialValue: models[0] });
  return chosen === OTHER ? enter() : chosen;
}

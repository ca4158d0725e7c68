import { html, type TemplateResult } from "lit";
import type { Link } from "../../link/link.ts";
import type { ChatFacts } from "./chat-facts.ts";
import "./meter.ts";
import type { ContextAnswer } from "./meter-parts.ts";
import "./pickers.ts";
import { modelChoices, type ModelChoice } from "./pickers-models.ts";
import type { SessionAction } from "./session-actions.ts";
import { t } from "../../words/words.ts";

/** What the bar of the message box shows and does: the model, how much it thinks, and how full its context is. */
export interface ComposerSettings {
  readonly facts: ChatFacts;
  readonly models: readonly ModelChoice[] | undefined;
  readonly modelsError: string;
  readonly memory: ContextAnswer | undefined;
  readonly memoryError: string;
  readonly compacting: boolean;
  loadModels(): void;
  loadMemory(): void;
  act(action: SessionAction): void;
}

/** For the slots of the message box. */
export function settingsBar(settings: ComposerSettings): TemplateResult {
  const { facts, act } = settings;
  const { row, model, total, mayChange } = facts;
  return html`<oc-model-picker
      slot="pickers"
      up
      .current=${model}
      .choices=${settings.models}
      .error=${settings.modelsError}
      ?disabled=${!mayChange}
      @unfold=${settings.loadModels}
      @choose=${({ detail }: CustomEvent<{ ref: string }>) => act({ do: "set", change: { model: detail.ref } })}
    ></oc-model-picker>
    <oc-thinking-picker
      slot="pickers"
      .level=${row?.thinkingLevel ?? ""}
      ?disabled=${!mayChange}
      @choose=${({ detail }: CustomEvent<{ level: string | null }>) => act({ do: "set", change: { thinkingLevel: detail.level } })}
    ></oc-thinking-picker>
    <oc-context-meter
      slot="meter"
      .used=${row?.totalTokens}
      .total=${total}
      .context=${settings.memory}
      .error=${settings.memoryError}
      ?compacting=${settings.compacting}
      .mayCompact=${mayChange && row !== undefined}
      @unfold=${settings.loadMemory}
      @compact=${() => act({ do: "compact" })}
    ></oc-context-meter>`;
}

/** The models that can be chosen, the current one first. */
export async function loadModelChoices(link: Pick<Link, "request" | "has">, current: string): Promise<readonly ModelChoice[]> {
  const [{ models }, status] = await Promise.all([
    link.request("models.list", {}),
    link.has("setup.status") ? link.request("setup.status", {}).catch(() => undefined) : undefined,
  ]);
  return modelChoices(models, status?.providers ?? [], current);
}

/** What is in the context of a session. */
export async function loadContext(link: Pick<Link, "request" | "has">, key: string): Promise<ContextAnswer> {
  if (!link.has("sessions.context")) throw new Error(t("this gateway does not report them."));
  return link.request("sessions.context", { key });
}

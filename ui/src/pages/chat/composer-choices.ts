import { html, nothing, type TemplateResult } from "lit";
import { icon } from "../../look/icons.ts";
import type { PageContext } from "../../shell/context.ts";
import { windowOf, type Completion } from "./composer-commands.ts";
import type { Prompts } from "./prompts/prompts.ts";

/** Choices that are seen at once. */
const SEEN = 9;

/** What can be taken by Tab or a click, above the box. */
export function choicesList(
  label: string,
  choices: readonly Completion[],
  marked: number,
  take: (choice: Completion) => void,
): TemplateResult | typeof nothing {
  if (choices.length === 0) return nothing;
  const { from, seen } = windowOf(choices, marked, SEEN);
  return html`<ul class="choices" id="choices" role="listbox" aria-label=${label}>
    ${seen.map(
      (choice, at) =>
        html`<li
          id="choice-${from + at}"
          role="option"
          aria-selected=${from + at === marked}
          aria-setsize=${choices.length}
          aria-posinset=${from + at + 1}
          @pointerdown=${(event: Event) => event.preventDefault()}
          @click=${() => take(choice)}
        >
          <span class=${choice.icon === undefined ? "mono" : "named"} dir="auto"
            >${choice.icon === undefined ? nothing : icon(choice.icon, 16)}${choice.label}</span
          ><span class="soft cut" dir="auto">${choice.detail}</span>
        </li>`,
    )}
  </ul>`;
}

/** The dialog that manages prompts, for the box that they go into. */
export const promptsDialog = (
  prompts: Prompts,
  { toasts }: Pick<PageContext, "toasts">,
  box: { readonly may: boolean; insert(prompt: string): Promise<void> },
  draft: string,
): TemplateResult =>
  html`<oc-prompts
    .prompts=${prompts}
    .toasts=${toasts}
    .may=${box.may}
    .draft=${draft}
    @insert=${({ detail }: CustomEvent<string>) => void box.insert(detail)}
  ></oc-prompts>`;

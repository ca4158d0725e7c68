import { html, type TemplateResult } from "lit";
import type { Link } from "../../link/link.ts";
import "../../parts/json-editor.ts";
import type { AssistHost, EditorAssist } from "../../parts/json-editor.ts";
import { marksOf, type Issue } from "./issues.ts";
import type { Editor } from "./model/editor.ts";
import { readJson5 } from "./model/json5.ts";
import { t } from "../../words/words.ts";

/** Loads completion and descriptions for the text. */
export const assistFor =
  (editor: () => Editor, link: () => Pick<Link, "request">) =>
  async (host: AssistHost): Promise<EditorAssist> => {
    let base: { readonly text: string; readonly value: unknown } | undefined;
    const baseValue = (text: string): unknown => (base?.text === text ? base : (base = { text, value: readJson5(text)?.value })).value;
    const [{ attachAssist }, { askIds }] = await Promise.all([import("./assist/assist.ts"), import("./assist/known-ids.ts")]);
    return attachAssist(host, {
      facts() {
        const { value, base: text } = editor().draft.state.value;
        return { ...editor().state.value, value, base: baseValue(text) };
      },
      ids: (found) => askIds(link(), found),
    });
  };

/** The configuration as text. */
export function textView({ draft }: Editor, issues: readonly Issue[], assist: ReturnType<typeof assistFor>): TemplateResult {
  return html`<oc-json-editor
      label=${t("Configuration as JSON5")}
      .value=${draft.state.value.text}
      .marks=${marksOf(issues)}
      .assist=${assist}
      @write=${(event: CustomEvent<{ text: string }>) => draft.write(event.detail.text)}
    ></oc-json-editor>
    <p class="faint keys">
      <kbd>Ctrl</kbd> <kbd>Space</kbd> ${t("suggests")} · <kbd>Ctrl</kbd> <kbd>I</kbd> ${t("explains")} · <kbd>Ctrl</kbd> <kbd>F</kbd> ${t("finds")}
    </p>`;
}

import { html, type TemplateResult } from "lit";
import { readSystemLine } from "./model/system-line.ts";
import { t } from "../../words/words.ts";

/** A system line that the gateway sent to the agent: a quiet row of its own, since no user wrote it. */
export function systemRow(lines: readonly string[]): TemplateResult {
  return html`<div class="system" role="group" aria-label=${t("System messages to the agent")}>
    ${lines.map((line) => {
      const { summary, whole } = readSystemLine(line);
      return html`<details class="summary">
        <summary class="mark"><span dir="auto">${summary}</span></summary>
        <p class="whole wrapped mono" dir="auto">${whole}</p>
      </details>`;
    })}
  </div>`;
}

import { html, type TemplateResult } from "lit";
import { toldLine } from "./model/told.ts";

/** What the gateway told the agent: a quiet row of its own, for nobody said it. */
export function toldRow(lines: readonly string[]): TemplateResult {
  return html`<div class="told" role="group" aria-label="Told to the agent by the gateway">
    ${lines.map((line) => {
      const { summary, whole } = toldLine(line);
      return html`<details class="summary">
        <summary class="mark"><span dir="auto">${summary}</span></summary>
        <p class="whole wrapped mono" dir="auto">${whole}</p>
      </details>`;
    })}
  </div>`;
}

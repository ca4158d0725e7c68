import { css, html, nothing, type TemplateResult } from "lit";

/** One thing that is known: its name and what it is. */
export type Fact = readonly [name: string, value: unknown];

/** For `static styles` of elements that use `facts`. */
export const factsLook = css`
  dl.facts {
    display: grid;
    grid-template-columns: minmax(90px, max-content) minmax(0, 1fr);
    gap: 5px 16px;
    margin: 0;
    font-size: var(--type-row);
  }
  dl.facts dt {
    color: var(--ink-soft);
  }
  dl.facts dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
`;

/** What is known of something, line by line. Facts without a value are left out. */
export function facts(known: readonly Fact[]): TemplateResult | typeof nothing {
  const shown = known.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== nothing);
  if (shown.length === 0) return nothing;
  return html`<dl class="facts">
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

import { css, html, nothing, type TemplateResult } from "lit";

/** For `static styles` of pages that are made of `section`s. */
export const sectionLook = css`
  section.part {
    margin-bottom: 16px;
    border: 1px solid var(--line);
    border-radius: var(--radius);
  }
  section.part > header {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 12px;
    min-height: 48px;
    padding: 8px 12px 8px 16px;
  }
  section.part > header h2 {
    font-size: var(--type-ui);
  }
  section.part > header .fact {
    font-size: var(--type-small);
    color: var(--ink-faint);
  }
  section.part > header .acts {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    align-items: center;
    min-width: 0;
    max-width: 100%;
    margin-inline-start: auto;
  }
  section.part > .inside {
    padding: 4px 16px 16px;
    font-size: var(--type-ui);
  }
  section.part > table.data {
    border-top: 1px solid var(--line);
  }
  section.part .rows {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  section.part .rows > li {
    padding: 12px 16px;
    border-top: 1px solid var(--line);
  }
  .figure {
    font-size: var(--type-figure);
    line-height: 32px;
    font-weight: 600;
    font-variant-numeric: tabular-nums;
  }
  .words {
    overflow-wrap: anywhere;
  }
  .fields {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(200px, 100%), 1fr));
    gap: 12px;
    align-items: end;
  }
  .fields label,
  label.field {
    display: grid;
    gap: 4px;
    color: var(--ink-soft);
  }
  .note {
    margin-bottom: 16px;
    overflow-wrap: anywhere;
  }
  .cmd {
    display: flex;
    align-items: center;
    gap: 8px;
    padding: 4px 6px 4px 12px;
    margin: 8px 0;
    background: var(--code);
    border-radius: var(--radius-small);
  }
  .cmd code {
    flex: 1;
    min-width: 0;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
    padding: 6px 0;
  }
`;

interface Section {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly fact?: string | TemplateResult | undefined;
  readonly actions?: TemplateResult | typeof nothing | undefined;
  readonly body: unknown;
}

/** A titled part of a page. */
export const section = ({ id, title, fact, actions, body }: Section): TemplateResult =>
  html`<section class="part" aria-labelledby=${id}>
    <header>
      <h2 id=${id}>${title}</h2>
      ${fact === undefined ? nothing : html`<span class="fact">${fact}</span>`}
      ${actions === undefined || actions === nothing ? nothing : html`<div class="acts">${actions}</div>`}
    </header>
    ${body}
  </section>`;

import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { sheet } from "../../look/sheet.ts";
import type { Check } from "./model/draft.ts";
import { HIDDEN } from "./model/secrets.ts";
import { t } from "../../words/words.ts";

type Change = Check["changes"][number];

const WORDS = { added: t("Added"), removed: t("Removed"), changed: t("Changed") } as const;
const LOOKS = { added: "good", removed: "bad", changed: "info" } as const;

/** A value in a line; a secret is a word. */
function shown(value: unknown): string {
  if (value === HIDDEN) return t("a secret");
  const text = JSON.stringify(value) ?? t("nothing");
  const masked = text.replaceAll(`"${HIDDEN}"`, t("a secret"));
  return masked.length > 200 ? `${masked.slice(0, 200)} …` : masked;
}

/** What would be different, key by key, and what that makes happen. */
export class ChangesList extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      td code {
        overflow-wrap: anywhere;
      }
      td:first-child {
        width: 34%;
      }
      .old {
        color: var(--ink-soft);
        text-decoration: line-through;
      }
    `,
  ];
  @property({ attribute: false }) changes: readonly Change[] = [];
  @property({ attribute: false }) reload: Check["reload"] | undefined;

  private does(path: string): string | undefined {
    return this.reload?.paths.find((one) => one.path === path || one.path.startsWith(`${path}.`) || path.startsWith(`${one.path}.`))?.does;
  }

  protected override render(): TemplateResult {
    if (this.changes.length === 0) return html`<p class="soft">${t("No values change, only the formatting.")}</p>`;
    return html`<div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">${t("Key")}</th>
            <th scope="col">${t("Change")}</th>
            ${this.reload ? html`<th scope="col">${t("Effect")}</th>` : nothing}
          </tr>
        </thead>
        <tbody>
          ${this.changes.map((change) => {
            const { path, kind, before, after } = change;
            return html`<tr>
              <td><code>${path}</code></td>
              <td>
                <span class="badge ${LOOKS[kind]}">${WORDS[kind]}</span>
                ${kind === "added" ? nothing : html`<code class="old">${shown(before)}</code>`} ${kind === "changed" ? "→" : nothing}
                ${kind === "removed" ? nothing : html`<code>${before === HIDDEN && after === HIDDEN ? t("new secret") : shown(after)}</code>`}
              </td>
              ${this.reload ? html`<td class="soft">${this.does(path) ?? ""}</td>` : nothing}
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
  }
}
customElements.define("oc-config-changes", ChangesList);

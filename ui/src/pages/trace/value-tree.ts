import { html, nothing, type TemplateResult } from "lit";
import { plural } from "../../base/figures.ts";
import { locale, t } from "../../words/words.ts";

const MOST_ITEMS = 100;
const WORDS = /(?<=[a-z0-9])(?=[A-Z])/;

/** `attemptedAt` → `attempted at`. */
const named = (key: string): string => key.split(WORDS).join(" ").toLowerCase();

const isMoment = (key: string, value: number): boolean => key.endsWith("At") && value > 1e12 && value < 1e14;

function shown(key: string, value: string | number | boolean | null): string {
  if (value === true) return t("yes");
  if (value === false) return t("no");
  if (value === null) return t("none");
  if (typeof value === "number")
    return isMoment(key, value) ? new Date(value).toLocaleString(locale) : value.toLocaleString(locale, { maximumFractionDigits: 6 });
  return value;
}

/** A value as names and values that can be read; objects in objects are folded. */
export function valueTree(value: unknown, key = ""): TemplateResult | typeof nothing {
  if (value === undefined) return nothing;
  if (typeof value !== "object" || value === null) return html`<span class="mono">${shown(key, value as string | number | boolean | null)}</span>`;
  const entries = Object.entries(value).slice(0, MOST_ITEMS);
  if (entries.length === 0) return html`<span class="soft">${t("empty")}</span>`;
  return html`<dl>
    ${entries.map(([name, one]) => {
      const nested = typeof one === "object" && one !== null;
      return html`<dt title=${name}>${Array.isArray(value) ? `${Number(name) + 1}.` : named(name)}</dt>
        <dd>
          ${
            nested
              ? html`<details>
                  <summary>
                    ${Array.isArray(one) ? plural(one.length, t("item"), t("items")) : plural(Object.keys(one as object).length, t("field"), t("fields"))}
                  </summary>
                  ${valueTree(one, name)}
                </details>`
              : valueTree(one, name)
          }
        </dd>`;
    })}
  </dl>`;
}

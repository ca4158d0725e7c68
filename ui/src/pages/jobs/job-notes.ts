import { html, nothing, type TemplateResult } from "lit";
import type { MethodResult } from "openclaw/client";
import { ago, exactly } from "../../base/figures.ts";
import { t } from "../../words/words.ts";
import type { Job } from "./job-facts.ts";

/** How long ago, or how soon; the exact time is its title. */
export const when = (at: number | undefined, otherwise: string): TemplateResult | string =>
  at === undefined ? otherwise : html`<span title=${exactly(at)}>${ago(at)}</span>`;

/** When a job runs next: how soon, and the time in the zone of its schedule. */
export function nextText({ enabled, schedule, state: { nextRunAtMs: at } }: Job): TemplateResult | string {
  if (!enabled) return t("none (disabled)");
  if (at === undefined) return t("none");
  return html`${ago(at)} <span class="faint">(${exactly(at, schedule.kind === "cron" ? schedule.tz : undefined)})</span>`;
}

/** Said while jobs do not run on schedule. */
export const offNote = ({ enabled, disabledBy }: MethodResult<"cron.status">): TemplateResult | typeof nothing =>
  enabled
    ? nothing
    : html`<div class="note warn">
        ${t("Jobs do not run on schedule:")} <code>${disabledBy ?? "cron.enabled"}</code> ${t("turns them off. You can still run them manually.")}
      </div>`;

import { html, nothing, type TemplateResult } from "lit";
import { duration, exactly, moment, money, tokens } from "../../base/figures.ts";
import { runNotes, runResult, type Result, type Run } from "./job-facts.ts";
import { t } from "../../words/words.ts";

export const badge = ({ level, text, reason }: Result): TemplateResult =>
  html`<span class="badge ${level}">${text}</span>${reason === undefined ? nothing : html`<div class="faint reason">${reason}</div>`}`;

const tokensOf = ({ usage }: Run): string | undefined => {
  const total = usage?.["total_tokens"];
  return typeof total === "number" && total > 0 ? tokens(total) : undefined;
};

/** How runs went, newest first. */
export function runTable(entries: readonly Run[]): TemplateResult {
  if (entries.length === 0) return html`<div class="empty">${t("No runs yet.")}</div>`;
  return html`<div class="scroll" role="region" aria-label=${t("Runs")} tabindex="0">
    <table>
      <thead>
        <tr>
          <th>${t("Time")}</th>
          <th>${t("Result")}</th>
          <th class="num">${t("Duration")}</th>
          <th class="num">${t("Cost")}</th>
          <th class="num less">${t("Tokens")}</th>
          <th class="less">${t("Answer")}</th>
        </tr>
      </thead>
      <tbody>
        ${entries.map((run) => {
          const at = run.runAtMs ?? run.ts;
          return html`<tr>
            <td title=${exactly(at)}>${moment(at)}</td>
            <td>${badge(runResult(run))}${runNotes(run).map((note) => html`<div class="faint reason">${note}</div>`)}</td>
            <td class="num">${run.durationMs === undefined ? "–" : duration(run.durationMs)}</td>
            <td class="num">${run.costUsd === undefined || run.costUsd === 0 ? "–" : money(run.costUsd)}</td>
            <td class="num less">${tokensOf(run) ?? "–"}</td>
            <td class="less words">${run.summary ?? ""}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

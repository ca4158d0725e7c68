import { css, html, nothing, type TemplateResult } from "lit";
import { duration, inPercent, plural } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import "../../parts/chart.ts";
import "../../parts/tip.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import type { History } from "./health-card.ts";
import { messageSeries, stepLabels } from "./history-facts.ts";
import type { Overview } from "./overview-facts.ts";

/** For `static styles` of the page. */
export const activityLook = css`
  .runs li {
    min-height: 36px;
    padding-block: 2px;
    border-top: 0;
  }
  .runs li:first-child {
    padding-top: 6px;
  }
  .runs .name {
    flex: none;
    max-width: 45%;
  }
  .plot {
    padding: 12px 16px 8px;
    border-top: 1px solid var(--line);
  }
`;

/** More than these are listed on the pages of traces and chats. */
const MOST = 3;

function messagesFact(history: History | undefined): string {
  const { total = 0, answered = 0, failed = 0 } = history?.messages ?? {};
  if (total === 0) return "";
  const count = plural(total, t("message"), t("messages"));
  return answered + failed === 0 ? count : t`${count}, ${inPercent((answered / (answered + failed)) * 100)} answered`;
}

function messagesPlot(history: History, labels: Readonly<Record<string, string>>): TemplateResult {
  const heading = history.stepMs >= 86_400_000 ? t("Messages per day") : history.stepMs > 3_600_000 ? t("Messages per 6 hours") : t("Messages per hour");
  return html`<div class="plot">
    <oc-stacked-bars
      label=${t`${heading}, by channel`}
      heading=${heading}
      .height=${104}
      .labels=${stepLabels(history)}
      .series=${messageSeries(history, labels)}
    ></oc-stacked-bars>
  </div>`;
}

export interface Activity {
  readonly overview: Overview;
  readonly history: History | undefined;
  /** Names of channels by their ids. */
  readonly labels: Readonly<Record<string, string>>;
  /** Absent when this browser may not stop runs. */
  readonly stop: ((sessionKey: string, runId: string) => void) | undefined;
}

/** Runs in progress, queued messages, and how many messages came. */
export function activityCard({ overview, history, labels, stop }: Activity): TemplateResult {
  const { runs, queues, ts } = overview;
  const lines = [
    ...runs.map(
      ({ runId, sessionKey, name = sessionKey, startedAt, doing, model, channel }) =>
        html`<li>
          <span class="spin" role="img" aria-label=${t("Running")}></span>
          <a class="name cut" href=${place("chat", [sessionKey])}>${name}</a>
          <span class="faint cut grow">${[doing, model, channel].filter((part) => part !== undefined).join(" · ")}</span>
          <span class="num soft">${duration(Math.max(0, ts - startedAt))}</span>
          <oc-tip text=${t("Trace of this run")}
            ><a class="button plain icon" href=${place("trace", [runId])} aria-label=${t`Trace of ${name}`}>${icon("trace", 15)}</a></oc-tip
          >
          ${
            stop
              ? html`<oc-tip text=${t("Stop")}
                  ><button class="plain icon" @click=${() => stop(sessionKey, runId)} aria-label=${t`Stop the run of ${name}`}>
                    ${icon("stop", 15)}
                  </button></oc-tip
                >`
              : nothing
          }
        </li>`,
    ),
    ...queues.map(
      ({ sessionKey, name = sessionKey, waiting, oldestAt }) =>
        html`<li>
          ${icon("queue", 15)}
          <a class="name cut" href=${place("chat", [sessionKey])}>${name}</a>
          <span class="faint cut grow">${t`${waiting} queued`}</span>
          <span class="num soft">${duration(Math.max(0, ts - oldestAt))}</span>
        </li>`,
    ),
  ];
  const more = lines.length - MOST;
  return html`<section class="card flush" aria-labelledby="runs">
    <h2 class="title row">
      <span class="grow"><span id="runs">${t("Activity")}</span> <span class="faint">${messagesFact(history)}</span></span
      ><a class="more" href=${place("trace")}>${t("All runs")}</a>
    </h2>
    ${
      lines.length === 0
        ? html`<p class="soft empty">${t("Idle")}</p>`
        : html`<ul class="lines runs">
            ${lines.slice(0, MOST)}
          </ul>`
    }
    ${more > 0 ? html`<p class="foot"><a href=${place("trace")}>${t`${more} more`}</a></p>` : nothing}
    ${history && history.messages.total > 0 ? messagesPlot(history, labels) : nothing}
  </section>`;
}

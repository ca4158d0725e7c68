import { css, html, nothing, type TemplateResult } from "lit";
import type { MethodResult } from "openclaw/client";
import { ago, duration } from "../../base/figures.ts";
import { answeringText } from "../../parts/answering.ts";
import type { StateSpan } from "../../parts/state-strip.ts";
import "../../parts/state-strip.ts";
import { stateDot, type Tone } from "../../parts/state.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import { axisLabels, stripText, toneOf } from "./history-facts.ts";
import type { ChannelLine, Overview } from "./overview-facts.ts";

export type History = MethodResult<"overview.history">;
type Part = History["parts"][number];

/** For `static styles` of the page. */
export const healthLook = css`
  .healths {
    list-style: none;
    margin: 0;
    padding: 6px 0 0;
    font-size: var(--type-ui);
  }
  .healths li,
  .axis {
    display: grid;
    grid-template-columns: minmax(0, 5fr) minmax(0, 7fr) 124px;
    align-items: center;
    gap: 16px;
    padding: 0 16px;
  }
  .healths li {
    min-height: 34px;
  }
  .healths .state {
    min-width: 0;
    overflow: hidden;
    font-size: var(--type-small);
    color: var(--ink-soft);
  }
  .healths .state.bad {
    color: var(--bad);
  }
  .axis {
    padding-block: 2px 12px;
    font-size: var(--type-micro);
    line-height: 16px;
    color: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  .axis div {
    display: flex;
    justify-content: space-between;
  }
  .axis.bare {
    display: none;
  }
  .legend {
    display: flex;
    gap: 14px;
    font-size: var(--type-small);
    font-weight: 400;
    color: var(--ink-soft);
  }
  .legend span {
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  .legend i {
    width: 8px;
    height: 8px;
    border-radius: 2px;
    background: var(--strip-good);
  }
  .legend .warn {
    background: var(--warn-solid);
  }
  .legend .bad {
    background: var(--bad-solid);
  }
  @media (max-width: 760px) {
    .healths li,
    .axis {
      grid-template-columns: minmax(0, 4fr) minmax(0, 3fr) 104px;
      gap: 10px;
    }
    .healths li {
      min-height: 44px;
    }
    .healths .faint,
    .legend,
    .axis div span:not(:first-child, :last-child) {
      display: none;
    }
  }
`;

interface HealthLine {
  readonly name: string;
  readonly href: string;
  readonly detail: string;
  readonly state: string;
  readonly tone: Tone;
  readonly part: Part | undefined;
}

/** Channels beyond these are on their own page. */
const MOST_CHANNELS = 5;
const WORST: readonly ChannelLine["level"][] = ["bad", "warn", "good", ""];

function linesOf(overview: Overview, channels: readonly ChannelLine[], history: History | undefined): readonly HealthLine[] {
  const { answering, startedAt, ts } = overview;
  const part = (id: string): Part | undefined => history?.parts.find((one) => one.id === id);
  const worst = channels.toSorted((a, b) => WORST.indexOf(a.level) - WORST.indexOf(b.level)).slice(0, MOST_CHANNELS);
  const automation = part("automation");
  const failing = automation?.spans.at(-1)?.state ?? "ok";
  return [
    { name: t("Gateway"), href: place("logs"), detail: t`up ${duration(ts - startedAt)}`, state: t("Running"), tone: "good", part: part("gateway") },
    {
      name: answering.offline ? t("Built-in offline model") : (answering.model?.replace(/^.*\//, "") ?? t("Model")),
      href: place(answering.offline ? "start" : "config"),
      detail: answering.offline ? t("Add a model for real answers") : answering.model === null ? "" : answeringText(answering),
      state: answering.model === null ? t("Missing") : t("Ready"),
      tone: answering.model === null ? "bad" : "good",
      part: part("models"),
    },
    // In the order of the channels page.
    ...channels
      .filter((one) => worst.includes(one))
      .map(({ id, name, state, level, lastAt }) => ({
        name,
        href: place("channels"),
        detail: lastAt === undefined ? "" : t`last message ${ago(lastAt)}`,
        state,
        tone: level,
        part: part(`channel:${id}`),
      })),
    ...(automation
      ? [
          {
            name: t("Automation"),
            href: place("jobs"),
            detail: "",
            state: failing === "ok" ? t("Normal") : t("Job failed"),
            tone: failing === "ok" ? ("good" as const) : ("warn" as const),
            part: automation,
          },
        ]
      : []),
  ];
}

const periodText = (hours: number): string => (hours <= 24 ? t("last 24 hours") : t`last ${hours / 24} days`);

/** The gateway, the model, channels and jobs: how they did over the period, and how they are. */
export function healthCard(overview: Overview, channels: readonly ChannelLine[] | undefined, history: History | undefined, hours: number): TemplateResult {
  const more = (channels?.length ?? 0) - MOST_CHANNELS;
  const spansOf = (part: Part | undefined): readonly StateSpan[] => (part?.spans ?? []).map(({ from, to, state }) => ({ from, to, tone: toneOf(state) }));
  return html`<section class="card flush" aria-labelledby="health">
    <h2 class="title row">
      <span class="grow"><span id="health">${t("Health")}</span> <span class="faint">${periodText(hours)}</span></span>
      <span class="legend" aria-hidden="true"
        ><span><i></i>${t("Normal")}</span><span><i class="warn"></i>${t("Degraded")}</span><span><i class="bad"></i>${t("Down")}</span></span
      >
    </h2>
    <ul class="healths">
      ${linesOf(overview, channels ?? [], history).map(
        ({ name, href, detail, state, tone, part }) =>
          html`<li>
            <span class="cut"><a class="quiet" href=${href}>${name}</a> <span class="faint">${detail}</span></span>
            <oc-state-strip label=${stripText(name, part?.spans)} .from=${history?.from ?? 0} .to=${history?.to ?? 1} .spans=${spansOf(part)}></oc-state-strip>
            ${stateDot(tone, state)}
          </li>`,
      )}
    </ul>
    <div class="axis" aria-hidden="true">
      <span></span>
      <div>${history ? axisLabels(history).map((label) => html`<span>${label}</span>`) : nothing}</div>
      <span></span>
    </div>
    ${more > 0 ? html`<p class="soft empty"><a href=${place("channels")}>${t`${more} more channels`}</a></p>` : nothing}
    ${channels?.length === 0 ? html`<p class="soft empty"><a href=${place("channels")}>${t("Connect a channel")}</a> ${t("to chat from your phone.")}</p>` : nothing}
  </section>`;
}

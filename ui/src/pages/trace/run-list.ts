import { css, html, LitElement, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { ago, duration, exactly } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import { isLive, sumsOf, waterfallOf, type Story } from "./story-rows.ts";
import { channelOf, OUTCOMES, storyMs, storyPlace, storyTitle, verdictText } from "./story-words.ts";
import { waterfallLook } from "./waterfall-look.ts";

const WIDE = 150;
const HIGH = 26;
const MOST_LINES = 9;

export const LEVELS = { ok: "good", wait: "info", bad: "bad" } as const satisfies Readonly<Record<Story["verdict"]["level"], string>>;

/** A run as small as a word: its bars, without words. */
function miniature(story: Story, now: number): SVGTemplateResult | typeof nothing {
  const { rows, length } = waterfallOf(story, { now });
  const bars = rows.filter(({ point, step }) => !point && step.kind !== "start").slice(0, MOST_LINES);
  if (bars.length === 0) return nothing;
  const thick = Math.min(5, HIGH / bars.length);
  return svg`<svg class="mini" width=${WIDE} height=${HIGH} viewBox="0 0 ${WIDE} ${HIGH}" aria-hidden="true">
    ${bars.map(
      ({ start, end, tone, bad }, index) =>
        svg`<rect class="bar ${tone} ${bad ? "bad" : ""} ${tone === "queue" ? "soft" : ""}" x=${(start / length) * WIDE} y=${index * thick} width=${Math.max(1.5, ((end - start) / length) * WIDE)} height=${Math.max(1, thick - 1)} rx="1"/>`,
    )}
  </svg>`;
}

/** Recent runs, newest first. */
export class RunList extends LitElement {
  static override styles = [
    sheet,
    waterfallLook,
    css`
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li + li {
        border-top: 1px solid var(--line);
      }
      a.run {
        display: grid;
        grid-template-columns: 118px minmax(0, 1fr) 150px 76px;
        gap: 2px 16px;
        align-items: center;
        padding: 9px 14px;
        color: inherit;
        text-decoration: none;
      }
      a.run:hover {
        background: var(--sunken);
      }
      .text,
      .facts {
        display: block;
      }
      .text {
        font-size: var(--type-row);
      }
      .facts {
        font-size: var(--type-small);
      }
      svg.mini {
        width: 150px;
      }
      .took {
        font-size: var(--type-ui);
      }
      @media (max-width: 760px) {
        a.run {
          grid-template-columns: minmax(0, 1fr) auto;
        }
        a.run .what {
          grid-column: 1 / 3;
          grid-row: 2;
        }
        svg.mini {
          display: none;
        }
        .text {
          white-space: normal;
        }
      }
    `,
  ];
  @property({ attribute: false }) stories: readonly Story[] = [];
  @property({ attribute: false }) now = Date.now();

  protected override render(): TemplateResult {
    return html`<ul>
      ${this.stories.map((story) => html`<li>${this.line(story)}</li>`)}
    </ul>`;
  }

  private line(story: Story): TemplateResult {
    const { verdict, about, steps } = story;
    const began = steps[0]?.at;
    const { calls, tools } = sumsOf(story);
    const facts = [
      about.asked === undefined ? undefined : verdictText(story),
      channelOf(story),
      about.sessionName ?? about.sessionKey,
      calls === 0 ? undefined : `${calls} model ${calls === 1 ? "call" : "calls"}`,
      tools === 0 ? undefined : `${tools} ${tools === 1 ? "tool" : "tools"}`,
    ].filter((fact): fact is string => fact !== undefined && fact !== "");
    return html`<a class="run" href=${place("trace", [storyPlace(story)])}>
      <span><span class="badge ${LEVELS[verdict.level]}">${OUTCOMES[verdict.outcome] ?? verdict.outcome}</span></span>
      <span class="what">
        <span class="text cut">${storyTitle(story)}</span>
        <span class="facts soft cut">${facts.join(" · ")}</span>
      </span>
      ${miniature(story, this.now)}
      <span class="took num">
        ${duration(isLive(story) && began !== undefined ? Math.max(storyMs(story), this.now - began) : storyMs(story))}<br />
        ${began === undefined ? nothing : html`<span class="faint" title=${exactly(began)}>${ago(began, this.now)}</span>`}
      </span>
    </a>`;
  }
}
customElements.define("oc-run-list", RunList);

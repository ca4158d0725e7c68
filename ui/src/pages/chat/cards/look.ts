import { css } from "lit";

/** How the steps of an answer look. */
export const cardLook = css`
  .tool {
    min-width: 0;
    border: 1px solid transparent;
    border-radius: var(--radius);
  }
  .tool.framed {
    background: var(--raised);
    border-color: var(--line);
    overflow: hidden;
  }
  .tool.framed.running {
    border-color: color-mix(in srgb, var(--accent) 45%, var(--line));
  }
  .card-line {
    display: flex;
    align-items: center;
    min-width: 0;
  }
  .card-head {
    display: flex;
    flex: 1;
    justify-content: flex-start;
    gap: 8px;
    min-width: 0;
    min-height: 32px;
    padding: 3px 8px;
    color: var(--ink-soft);
    background: none;
    border: 0;
    box-shadow: none;
    font-size: var(--type-ui);
    font-weight: 400;
    text-align: start;
  }
  .framed > .card-line .card-head {
    min-height: 40px;
    padding: 3px 12px;
    color: var(--ink);
    border-radius: 0;
  }
  .card-head:hover:not(:disabled) {
    background: var(--hover);
  }
  .card-head:focus-visible {
    outline-offset: -2px;
  }
  .sign {
    display: inline-flex;
    flex: none;
    color: var(--ink-faint);
  }
  .sign.done {
    color: var(--good);
  }
  .sign.failed,
  .sign.denied {
    color: var(--bad);
  }
  .sign.asked,
  .sign.expired,
  .sign.restarted,
  .sign.lost {
    color: var(--warn);
  }
  .card-name {
    flex: none;
  }
  .card-about {
    min-width: 0;
    font-size: var(--type-small);
    color: var(--ink);
  }
  .plus,
  .minus,
  .card-state {
    flex: none;
    font-variant-numeric: tabular-nums;
  }
  .plus {
    color: var(--good);
  }
  .minus {
    color: var(--bad);
  }
  .card-state {
    display: inline-flex;
    align-items: center;
    gap: 8px;
    margin-inline-start: auto;
    font-size: var(--type-small);
    color: var(--ink-faint);
  }
  .card-state.running {
    color: var(--accent-text);
  }
  .card-state.failed,
  .card-state.denied,
  .exit {
    color: var(--bad);
  }
  .card-state.asked,
  .card-state.expired,
  .card-state.restarted,
  .card-state.lost {
    color: var(--warn);
  }
  .chevron {
    display: inline-flex;
    flex: none;
    color: var(--ink-faint);
    opacity: 0;
    transition: opacity var(--motion);
  }
  .framed .chevron,
  .card-head:hover .chevron,
  .card-head:focus-visible .chevron {
    opacity: 1;
  }
  .stop-step {
    flex: none;
    margin-inline-end: 4px;
  }
  .card-body {
    display: flex;
    flex-direction: column;
    border-top: 1px solid var(--line);
  }
  .card-body > [role="group"]:not(.terminal-frame, .diff),
  .card-body > p,
  .card-body > .pictures {
    padding: 8px 12px 10px;
  }
  .part {
    margin: 0 0 4px;
    font-size: var(--type-small);
    font-weight: 500;
    color: var(--ink-faint);
  }
  .card-body .code-block pre {
    max-height: 420px;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .terminal-frame {
    position: relative;
  }
  .terminal-frame .copy {
    position: absolute;
    inset-block-start: 4px;
    inset-inline-end: 6px;
    min-height: 26px;
    padding: 0 6px;
    color: var(--ink-soft);
    background: var(--code);
    opacity: 0;
  }
  .terminal-frame:hover .copy,
  .terminal-frame .copy:focus-visible {
    opacity: 1;
  }
  .terminal {
    margin: 0;
    padding: 8px 12px 10px;
    max-height: 320px;
    overflow: auto;
    font: var(--type-small)/19px var(--mono);
    color: var(--ink-soft);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    background: var(--code);
  }
  .terminal.tail {
    max-height: 240px;
    border-top: 1px solid var(--line);
  }
  .prompt {
    color: var(--ink-faint);
    user-select: none;
  }
  .typed {
    color: var(--ink);
    font-weight: 600;
  }
  .diff {
    margin: 0;
    padding: 6px 0;
    max-height: 420px;
    overflow: auto;
    font: var(--type-ui)/20px var(--mono);
    background: var(--code);
    tab-size: 4;
  }
  .d {
    display: block;
    width: max-content;
    min-width: 100%;
    padding-inline-end: 12px;
    color: var(--ink);
  }
  .d.mark {
    padding-inline-start: 12px;
    color: var(--ink-soft);
  }
  .d.mark > i,
  .d.mark > b {
    display: none;
  }
  .d > i {
    display: inline-block;
    width: 34px;
    padding-inline-end: 8px;
    font-style: normal;
    font-size: var(--type-micro);
    color: var(--ink-faint);
    text-align: end;
    user-select: none;
  }
  .d > b {
    display: inline-block;
    width: 18px;
    font-weight: 400;
    color: var(--ink-faint);
    text-align: center;
    user-select: none;
  }
  .d.added {
    background: var(--good-soft);
  }
  .d.removed {
    background: var(--bad-soft);
  }
  .d.added > b,
  .d.added > i {
    color: var(--good);
  }
  .d.removed > b,
  .d.removed > i {
    color: var(--bad);
  }
  @media (hover: none) {
    .terminal-frame .copy {
      opacity: 1;
    }
  }
  @media (max-width: 720px) {
    .card-head {
      min-height: 44px;
      padding-inline: 4px;
    }
    .card-about {
      font-size: var(--type-small);
    }
  }
`;

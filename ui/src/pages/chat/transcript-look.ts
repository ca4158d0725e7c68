import { css } from "lit";

/** How the log lies on the page. */
export const transcriptLook = css`
  :host {
    display: block;
    position: relative;
    min-height: 0;
    height: 100%;
  }
  .scroller {
    height: 100%;
    overflow-y: auto;
    overflow-x: hidden;
    overflow-anchor: none;
    overscroll-behavior: contain;
    scrollbar-gutter: stable both-edges;
  }
  .list {
    max-width: 740px;
    margin: 0 auto;
    padding: 8px 10px 20px;
  }
  .item {
    position: relative;
    padding: 7px 0;
    border-radius: var(--radius-small);
    transition: background var(--calm);
  }
  .item.found {
    background: var(--hover);
    box-shadow: 0 0 0 6px var(--hover);
  }
  .wrapped {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    unicode-bidi: plaintext;
  }
  .said {
    display: flex;
    flex-direction: column;
    align-items: flex-end;
    gap: 6px;
    padding: 7px 0;
  }
  .who {
    font-size: var(--type-small);
    line-height: 16px;
    color: var(--ink-faint);
  }
  .bubble {
    max-width: min(560px, 86%);
    padding: 9px 14px;
    font-size: var(--type-reading);
    line-height: 24px;
    background: var(--selected);
    border: 1px solid transparent;
    border-radius: 16px 16px 5px 16px;
  }
  .file-card {
    display: flex;
    align-items: center;
    gap: 10px;
    width: min(300px, 100%);
    min-height: 52px;
    padding: 6px 14px 6px 8px;
    font-size: var(--type-ui);
    font-weight: 500;
    border: 1px solid var(--line);
    border-radius: var(--radius);
  }
  oc-chat-attachment {
    min-height: 54px;
  }
  .thumb {
    display: grid;
    flex: none;
    place-items: center;
    width: 36px;
    height: 36px;
    color: var(--ink-soft);
    background: var(--hover);
    border-radius: var(--radius-small);
  }
  .pending .bubble {
    background: var(--hover);
    border: 1px dashed var(--line-strong);
  }
  .pending.accepted .bubble {
    background: var(--selected);
    border: 1px solid transparent;
  }
  .answer {
    display: flex;
    flex-direction: column;
    gap: 8px;
    min-width: 0;
  }
  .by,
  button.by {
    display: inline-flex;
    align-items: center;
    justify-content: flex-start;
    gap: 8px;
    width: fit-content;
    max-width: 100%;
    min-height: 32px;
    margin-inline-start: -4px;
    padding: 2px 4px;
    font-size: var(--type-ui);
    font-variant-numeric: tabular-nums;
    --avatar: 22px;
  }
  .by oc-avatar {
    border-radius: 6px;
    color: #fff;
    background: var(--brand, light-dark(#e4512f, #f0623f));
  }
  .by b {
    overflow: hidden;
    font-weight: 600;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .by .faint {
    font-size: var(--type-ui);
    font-weight: 400;
    white-space: nowrap;
  }
  .turns {
    display: inline-flex;
    color: var(--ink-faint);
    transition: rotate var(--motion);
  }
  .work[aria-expanded="true"] .turns {
    rotate: 90deg;
  }
  .foot {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 2px 10px;
    min-height: 24px;
    font-size: var(--type-small);
    line-height: 16px;
    color: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  .foot a:not(.act) {
    color: inherit;
    text-decoration-color: var(--line-strong);
    text-underline-offset: 2px;
  }
  .foot a:not(.act):hover {
    color: var(--ink);
  }
  .said .foot {
    justify-content: flex-end;
  }
  .acts,
  .always {
    display: inline-flex;
    gap: 2px;
  }
  .acts,
  .tools {
    opacity: 0;
    transition: opacity var(--motion);
  }
  .tools {
    position: absolute;
    z-index: 2;
    inset-block-start: 3px;
    inset-inline-end: 0;
    display: flex;
    padding: 2px;
    background: var(--raised);
    border-radius: var(--radius);
    box-shadow: var(--shadow);
  }
  .item:hover .acts,
  .item:focus-within .acts,
  .item:hover .tools,
  .item:focus-within .tools {
    opacity: 1;
  }
  button.act,
  a.act {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    width: 28px;
    min-height: 28px;
    padding: 0;
    color: var(--ink-soft);
    border-radius: var(--radius-small);
  }
  .act.act:hover {
    color: var(--ink);
    background: var(--hover);
  }
  .mark {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 12px;
    margin: 8px 0 2px;
    font-size: var(--type-small);
    font-weight: 500;
    color: var(--ink-faint);
    list-style: none;
  }
  .mark.ruled::before,
  .mark.ruled::after {
    content: "";
    flex: 1;
    border-top: 1px solid var(--line);
  }
  .mark > span {
    max-width: 80%;
    text-align: center;
  }
  summary.mark {
    cursor: pointer;
  }
  summary.mark::-webkit-details-marker {
    display: none;
  }
  .summary > .whole {
    margin: 0 0 10px;
    font-size: var(--type-small);
    color: var(--ink-soft);
  }
  .summary > .whole,
  .summary > .prose {
    padding: 10px 14px;
    background: var(--sunken);
    border-radius: var(--radius-small);
  }
  .thought {
    font-size: var(--type-row);
    color: var(--ink-soft);
  }
  .thought summary {
    cursor: pointer;
    width: fit-content;
  }
  .thought p {
    margin: 4px 0 0;
    padding-inline-start: 12px;
    border-inline-start: 2px solid var(--line);
  }
  .note {
    display: flex;
    flex-direction: column;
    gap: 6px;
    max-width: 100%;
  }
  .working {
    display: flex;
    align-items: center;
    gap: 8px;
    font-size: var(--type-row);
  }
  .pictures {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    max-width: 100%;
  }
  .edge {
    padding: 12px;
    text-align: center;
  }
  .middle {
    display: grid;
    place-items: center;
    height: 100%;
    padding: 24px;
  }
  .jump {
    position: absolute;
    inset-inline: 0;
    bottom: 10px;
    z-index: 3;
    width: fit-content;
    min-height: 36px;
    margin: 0 auto;
    background: var(--raised);
    border-color: transparent;
    border-radius: 99px;
    box-shadow: var(--shadow);
  }
  .jump.waits > svg {
    color: var(--warn);
  }
  .item.goes-on {
    padding-block: 0;
  }
  .caret,
  .writing .prose > :is(p, h3, h4, h5):last-child::after,
  .writing .prose > blockquote:last-child > :last-child::after,
  .writing .prose > :is(ul, ol):last-child > li:last-child::after {
    content: "";
    display: inline-block;
    width: 7px;
    height: 1.05em;
    margin-inline-start: 3px;
    vertical-align: -0.18em;
    background: var(--accent);
    border-radius: 1px;
    animation: blink 1.1s steps(2, jump-none) infinite;
  }
  @keyframes blink {
    to {
      opacity: 0.15;
    }
  }
  .spinner {
    width: 13px;
    height: 13px;
    border: 2px solid var(--line-strong);
    border-top-color: var(--accent);
    border-radius: 50%;
    animation: turn 0.9s linear infinite;
  }
  @keyframes turn {
    to {
      transform: rotate(1turn);
    }
  }
  @media (hover: none) {
    /* Not taken away: a keyboard reaches them, and then they are shown. */
    .acts,
    .tools {
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      opacity: 0;
      pointer-events: none;
    }
    .item.acting .acts,
    .item:focus-within .acts {
      position: static;
    }
    .item.acting .acts,
    .item.acting .tools,
    .item:focus-within .acts,
    .item:focus-within .tools {
      display: flex;
      width: auto;
      height: auto;
      overflow: visible;
      opacity: 1;
      pointer-events: auto;
    }
  }
  @media (max-width: 720px) {
    .list {
      padding: 8px 16px 14px;
    }
    button.act,
    a.act {
      width: 44px;
      min-height: 44px;
    }
    .foot {
      min-height: 32px;
    }
    .foot a:not(.act) {
      display: inline-flex;
      align-items: center;
      min-width: 44px;
      min-height: 44px;
      margin: -12px 0;
    }
    button.by {
      min-height: 44px;
    }
  }
`;

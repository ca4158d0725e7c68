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
    scrollbar-gutter: stable;
  }
  .list {
    max-width: 860px;
    margin: 0 auto;
    padding: 16px 24px 20px;
  }
  .item {
    padding: 6px 0;
    border-radius: var(--radius-small);
    transition: background 0.3s;
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
    gap: 3px;
  }
  .who {
    font-size: 13px;
    color: var(--ink-soft);
  }
  .bubble {
    max-width: min(620px, 88%);
    padding: 8px 14px;
    background: var(--sunken);
    border: 1px solid var(--line);
    border-radius: 16px 16px 4px 16px;
  }
  .pending .bubble {
    border-style: dashed;
  }
  .pending.accepted .bubble {
    border-style: solid;
  }
  .answer {
    display: flex;
    flex-direction: column;
    gap: 8px;
    min-width: 0;
  }
  .foot {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 2px 10px;
    min-height: 26px;
    font-size: 12.5px;
    color: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  .said .foot {
    justify-content: flex-end;
  }
  .acts,
  .always {
    display: inline-flex;
    gap: 2px;
  }
  .acts {
    opacity: 0;
    transition: opacity 0.12s;
  }
  .item:hover .acts,
  .item:focus-within .acts {
    opacity: 1;
  }
  button.act,
  a.act {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    width: 26px;
    min-height: 24px;
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
    gap: 12px;
    margin: 10px 0;
    font-size: 12.5px;
    color: var(--ink-faint);
    list-style: none;
  }
  .mark::before,
  .mark::after {
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
    font-size: 12.5px;
    color: var(--ink-soft);
  }
  .summary > .whole,
  .summary > .prose {
    padding: 10px 14px;
    background: var(--sunken);
    border-radius: var(--radius-small);
  }
  .thought {
    font-size: 14px;
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
    font-size: 14px;
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
    width: fit-content;
    margin: 0 auto;
    border-radius: 99px;
    box-shadow: var(--shadow);
  }
  .writing .prose > :last-child::after {
    content: "";
    display: inline-block;
    width: 7px;
    height: 1em;
    margin-inline-start: 2px;
    vertical-align: -0.15em;
    background: var(--accent);
    animation: blink 1s steps(2) infinite;
  }
  .writing .prose > .code-block:last-child::after,
  .writing .prose > .scroll:last-child::after {
    display: none;
  }
  @keyframes blink {
    to {
      opacity: 0;
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
    .acts {
      opacity: 1;
    }
  }
  @media (max-width: 720px) {
    .list {
      padding: 10px 12px 14px;
    }
    button.act,
    a.act {
      width: 36px;
      min-height: 32px;
    }
  }
`;

import { css } from "lit";

/** How Markdown and code look. */
export const proseLook = css`
  .prose {
    min-width: 0;
    overflow-wrap: anywhere;
    font-size: var(--type-reading);
    line-height: 24px;
  }
  .prose > :first-child {
    margin-top: 0;
  }
  .prose > :last-child {
    margin-bottom: 0;
  }
  .prose p,
  .prose ul,
  .prose ol,
  .prose blockquote,
  .prose .scroll,
  .prose .code-block {
    margin: 0 0 10px;
  }
  .prose h3,
  .prose h4,
  .prose h5 {
    margin: 18px 0 6px;
    line-height: 1.3;
    font-size: var(--type-reading);
  }
  .prose h3 {
    font-size: var(--type-title);
  }
  .prose h3.big {
    font-size: var(--type-title);
  }
  .prose ul,
  .prose ol {
    padding-inline-start: 24px;
  }
  .prose li {
    margin: 2px 0;
  }
  .prose li,
  .prose li > p,
  .prose blockquote p,
  .prose th,
  .prose td {
    unicode-bidi: plaintext;
  }
  .prose li.task {
    list-style: none;
    margin-inline-start: -22px;
  }
  .prose li.task > input {
    min-height: 0;
    margin: 0 4px;
    vertical-align: -1px;
  }
  .prose li > p,
  .prose li > ul,
  .prose li > ol {
    margin-bottom: 4px;
  }
  .prose blockquote {
    padding-block: 2px;
    padding-inline: 14px 0;
    border-inline-start: 3px solid var(--line-strong);
    color: var(--ink-soft);
  }
  .prose hr {
    margin: 16px 0;
    border: 0;
    border-top: 1px solid var(--line);
  }
  .prose img {
    max-width: 100%;
    border-radius: var(--radius-small);
  }
  .prose :not(pre) > code {
    padding: 1px 5px;
    background: var(--code);
    border: 1px solid var(--line);
    border-radius: 4px;
    font-size: 0.88em;
  }
  .prose table {
    width: auto;
    min-width: 40%;
  }
  .prose .right {
    text-align: right;
  }
  .prose .centre {
    text-align: center;
  }
  .real-host {
    margin-inline-start: 4px;
    padding: 0 5px;
    font-size: var(--type-small);
    color: var(--warn);
    background: var(--warn-soft);
    border-radius: 4px;
  }
  .code-block {
    background: var(--code);
    border: 1px solid var(--line);
    border-radius: var(--radius-small);
    overflow: hidden;
  }
  .code-head {
    display: flex;
    align-items: center;
    justify-content: space-between;
    padding: 0 4px 0 12px;
    font-size: var(--type-small);
    color: var(--ink-soft);
    border-bottom: 1px solid var(--line);
  }
  .code-head button {
    min-height: 26px;
    padding: 0 6px;
    color: var(--ink-soft);
  }
  .code-block pre {
    margin: 0;
    padding: 10px 12px;
    overflow: auto;
    max-height: 70vh;
    font-size: var(--type-ui);
    line-height: 1.5;
    overflow-wrap: normal;
    tab-size: 4;
  }
  .code-block code {
    font-size: inherit;
  }
  oc-code-block {
    display: block;
  }
  .code-part {
    display: block;
    content-visibility: auto;
    contain-intrinsic-size: auto 2000px;
  }
  .code-block .fold {
    width: 100%;
    color: var(--ink-soft);
    border-radius: 0;
    border-top: 1px solid var(--line);
  }
  .code-block.long:not(.unfolded) pre {
    max-height: 480px;
    overflow-y: hidden;
  }
  .code-block.unfolded pre {
    max-height: none;
  }
  .note-mark.note-mark {
    display: inline;
    min-width: 0;
    min-height: 0;
    padding: 0 1px;
    line-height: 1;
    font-size: var(--type-micro);
    color: var(--accent-text);
  }
  .footnote {
    display: flex;
    gap: 8px;
    margin: 0 0 4px;
    font-size: var(--type-ui);
    line-height: 20px;
    color: var(--ink-soft);
  }
  .footnote > span:first-child {
    color: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  .footnote:focus {
    outline: none;
    background: var(--hover);
  }
  .comment {
    color: var(--ink-soft);
    font-style: italic;
  }
  .string,
  .added {
    color: var(--good);
  }
  .number,
  .mark-line {
    color: var(--info);
  }
  .keyword {
    color: var(--code-key);
  }
  .removed {
    color: var(--bad);
  }
`;

import { css } from "lit";

/** What the list of conversations looks like. */
export const sidebarLook = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    height: 100%;
    background: none;
  }
  .top {
    display: flex;
    gap: 8px;
    padding: 12px 12px 8px;
  }
  .top .new {
    flex: 1;
    justify-content: flex-start;
  }
  .find {
    padding: 0 12px 8px;
    display: flex;
    gap: 8px;
  }
  .waiting {
    padding: 4px 12px;
  }
  .find oc-select {
    flex: none;
  }
  nav {
    flex: 1;
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  .scroller {
    flex: 1;
    min-height: 0;
    padding: 0 8px 16px;
    overflow-y: auto;
    /* Rows above the view come and go. */
    overflow-anchor: none;
    contain: strict;
  }
  /* Lines have the heights that sidebar-items.ts counts with. */
  h2 {
    box-sizing: border-box;
    height: var(--head);
    margin: 0;
    padding: 12px 8px 4px;
    font-size: var(--type-small);
    font-weight: 500;
    line-height: 18px;
    color: var(--ink-faint);
  }
  h2.folder {
    position: relative;
    padding: 1px 0;
  }
  .folder > button {
    justify-content: flex-start;
    gap: 6px;
    width: 100%;
    min-height: 32px;
    padding: 0 8px;
    font-size: var(--type-ui);
    color: var(--ink-soft);
    text-align: start;
  }
  .folder:hover .faint,
  .folder:focus-within .faint {
    visibility: hidden;
  }
  h2.folder .about {
    inset-block-start: 1px;
    background: none;
  }
  .folder:hover .about,
  .folder:focus-within .about {
    opacity: 1;
  }
  li.session {
    box-sizing: border-box;
    height: var(--row);
    overflow: clip;
    overflow-clip-margin: 4px;
  }
  .goes-on {
    height: var(--goes-on);
    padding: 10px 8px;
    font-size: var(--type-small);
  }
  .apart {
    display: flex;
    flex-wrap: wrap;
    gap: 2px;
    max-height: 40%;
    padding: 6px 8px;
    overflow-y: auto;
    border-top: 1px solid var(--line);
  }
  .apart section {
    flex-basis: 100%;
  }
  ul {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  a {
    display: block;
    padding: 8px;
    border-radius: var(--radius-small);
    color: var(--ink);
    text-decoration: none;
    font-size: var(--type-ui);
    font-weight: 500;
    line-height: 18px;
  }
  a:hover {
    background: var(--hover);
  }
  a[aria-current="page"] {
    background: var(--selected);
  }
  .line {
    display: flex;
    align-items: baseline;
    gap: 8px;
  }
  .unread .title {
    font-weight: 650;
  }
  .preview {
    color: var(--ink-soft);
    font-size: var(--type-small);
    font-weight: 400;
  }
  .time {
    font-size: var(--type-small);
    color: var(--ink-soft);
    white-space: nowrap;
  }
  .dot {
    flex: none;
    align-self: center;
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--accent);
  }
  .dot.running {
    background: none;
    border: 2px solid var(--accent);
    border-top-color: transparent;
    animation: turn 1s linear infinite;
    width: 10px;
    height: 10px;
  }
  @keyframes turn {
    to {
      rotate: 1turn;
    }
  }
  .note,
  .empty {
    margin: 8px;
    font-size: var(--type-ui);
  }
  .count {
    margin: 8px;
    font-size: var(--type-small);
  }
  .deleted {
    display: flex;
    align-items: center;
    gap: 8px;
    padding: 4px 8px;
  }
  .more {
    width: 100%;
    margin-top: 8px;
  }
  li {
    position: relative;
  }
  .choose {
    position: absolute;
    inset-block-start: 9px;
    inset-inline-start: 8px;
  }
  .choosing a {
    padding-inline-start: 34px;
  }
  .about {
    position: absolute;
    inset-block-start: 4px;
    inset-inline-end: 4px;
    opacity: 0;
    background: var(--raised);
    border-radius: var(--radius-small);
  }
  li:hover .about,
  li:focus-within .about {
    opacity: 1;
  }
  @media (hover: none) {
    .about {
      opacity: 1;
      background: none;
    }
  }
  .bulk {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px;
    padding: 0 12px 8px;
    font-size: var(--type-ui);
  }
  .state {
    padding: 0 6px;
    border-radius: 4px;
    font-size: var(--type-small);
    color: var(--warn);
    background: var(--warn-soft);
  }
  mark {
    color: inherit;
    background: var(--mark, var(--selected));
    border-radius: 2px;
  }
  .hit {
    display: -webkit-box;
    -webkit-line-clamp: 2;
    -webkit-box-orient: vertical;
    overflow: hidden;
    overflow-wrap: anywhere;
    color: var(--ink-soft);
    font-size: var(--type-small);
    font-weight: 400;
  }
`;

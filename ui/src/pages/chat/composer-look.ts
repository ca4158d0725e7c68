import { css } from "lit";

/** How the box looks that one writes in. */
export const composerLook = css`
  :host {
    position: relative;
    display: block;
  }
  .box {
    background: var(--raised);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-panel);
    box-shadow: 0 2px 10px light-dark(rgb(20 20 30 / 6%), rgb(0 0 0 / 35%));
    transition: border-color var(--motion);
  }
  .box:focus-within:has(textarea:focus) {
    border-color: var(--accent);
    outline: 3px solid color-mix(in srgb, var(--accent) 20%, transparent);
  }
  .box.over {
    background: var(--accent-soft);
    border-style: dashed;
  }
  textarea,
  textarea:focus-visible {
    display: block;
    width: 100%;
    min-height: 44px;
    max-height: min(40vh, 320px);
    padding: 11px 16px 5px;
    font-size: var(--type-reading);
    line-height: 24px;
    field-sizing: content;
    resize: none;
    background: none;
    border: 0;
    outline: none;
  }
  .bar {
    display: flex;
    align-items: center;
    gap: 2px;
    min-width: 0;
    padding: 4px 8px 8px;
  }
  .attach {
    display: grid;
    flex: none;
    place-items: center;
    width: 32px;
    height: 32px;
    border-radius: var(--radius-small);
    color: var(--ink-soft);
    cursor: pointer;
  }
  .attach:hover {
    background: var(--hover);
  }
  .attach:focus-within {
    outline: 2px solid var(--accent);
  }
  .attach input {
    position: absolute;
    width: 1px;
    height: 1px;
    opacity: 0;
  }
  .bar button {
    flex: none;
    margin-inline-start: 4px;
  }
  .stop > svg {
    fill: currentColor;
  }
  .files {
    list-style: none;
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin: 0;
    padding: 8px 8px 0;
  }
  .files li {
    display: flex;
    align-items: center;
    gap: 6px;
    max-width: 260px;
    padding: 3px 3px 3px 8px;
    font-size: var(--type-ui);
    background: var(--sunken);
    border: 1px solid var(--line);
    border-radius: var(--radius-small);
  }
  .files img {
    width: 36px;
    height: 36px;
    margin-inline-start: -4px;
    object-fit: cover;
    border-radius: 4px;
  }
  .choices {
    position: absolute;
    inset-inline: 0;
    bottom: 100%;
    z-index: 20;
    margin: 0 0 6px;
    padding: 6px;
    list-style: none;
    background: var(--raised);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    box-shadow: var(--shadow-high);
  }
  .choices li {
    display: flex;
    gap: 12px;
    padding: 6px 10px;
    font-size: var(--type-row);
    border-radius: var(--radius-small);
    cursor: pointer;
  }
  .choices .mono,
  .choices .named {
    flex: none;
    max-width: 60%;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .choices svg {
    margin-inline-end: 8px;
    vertical-align: -3px;
  }
  .choices li[aria-selected="true"] {
    background: var(--accent-soft);
  }
  .note {
    margin-bottom: 8px;
    font-size: var(--type-row);
  }
  .hint {
    margin: 4px 10px 0;
    font-size: var(--type-small);
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  @media (max-width: 720px) {
    textarea,
    textarea:focus-visible {
      font-size: var(--type-field);
    }
    .attach {
      width: 44px;
      height: 44px;
    }
    .bar {
      padding: 2px 6px 6px;
    }
    .bar button.icon,
    .bar button.stop {
      width: 44px;
      padding: 0;
    }
    .stop > span {
      display: none;
    }
    .hint {
      white-space: normal;
    }
    .hint.usual {
      display: none;
    }
  }
`;

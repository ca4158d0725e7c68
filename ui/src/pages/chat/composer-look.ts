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
    border-radius: 14px;
    box-shadow: var(--shadow-small);
    transition: border-color var(--motion);
  }
  .box:focus-within {
    border-color: var(--ink-faint);
  }
  .box.over {
    background: var(--accent-soft);
    border-style: dashed;
  }
  .line {
    display: flex;
    align-items: flex-end;
    gap: 4px;
    padding: 5px;
  }
  textarea,
  textarea:focus-visible {
    flex: 1;
    min-width: 0;
    min-height: 38px;
    max-height: min(40vh, 320px);
    padding: 7px 6px;
    font-size: 15px;
    line-height: 1.55;
    field-sizing: content;
    resize: none;
    background: none;
    border: 0;
    outline: none;
  }
  .attach {
    display: grid;
    place-items: center;
    width: 38px;
    height: 38px;
    border-radius: 10px;
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
  .line button.icon {
    width: 38px;
    height: 38px;
    border-radius: 10px;
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
    font-size: 13.5px;
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
    font-size: 14px;
    border-radius: var(--radius-small);
    cursor: pointer;
  }
  .choices .mono {
    flex: none;
    max-width: 60%;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .choices li[aria-selected="true"] {
    background: var(--accent-soft);
  }
  .note {
    margin-bottom: 8px;
    font-size: 14px;
  }
  .hint {
    margin: 4px 10px 0;
    font-size: 12.5px;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  @media (max-width: 720px) {
    textarea,
    textarea:focus-visible {
      font-size: 16px;
    }
    .hint {
      white-space: normal;
    }
    .hint.usual {
      display: none;
    }
  }
`;

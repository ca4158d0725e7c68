import { css } from "lit";

/** How the cards of the first steps look. */
export const cardLook = css`
  :host {
    display: block;
  }
  .card {
    display: flex;
    flex-direction: column;
    gap: 12px;
    height: 100%;
  }
  .card.wanted {
    border-color: var(--accent);
  }
  h2 {
    display: flex;
    align-items: center;
    gap: 8px;
  }
  /** Reading goes on there; the card's border says so. */
  h2:focus {
    outline: none;
  }
  h2 svg {
    color: var(--accent-text);
  }
  form,
  .field {
    display: grid;
    gap: 10px;
  }
  .field {
    gap: 4px;
  }
  .field label {
    font-weight: 600;
  }
  .note {
    overflow-wrap: anywhere;
  }
  .further {
    margin-top: 8px;
  }
  .note.good {
    background: var(--good-soft);
    border-color: var(--good);
  }
  ul {
    list-style: none;
    margin: 0;
    padding: 0;
    display: grid;
    gap: 8px;
  }
`;

import { html, nothing, type TemplateResult } from "lit";
import { capital } from "../../base/capital.ts";
import { ago, exactly, figure } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import type { MenuEntry } from "../../parts/menu.ts";
import "../../parts/menu.ts";
import { place } from "../../shell/router.ts";
import type { Deletion } from "./deletions.ts";
import type { ListAction } from "./sidebar-actions.ts";
import { isMain, isUnread, type ListedSession } from "./sidebar-groups.ts";
import type { FolderHead, ListItem } from "./sidebar-items.ts";
import type { ListView, SessionsState } from "./sidebar-sessions.ts";
import { t } from "../../words/words.ts";

/** What is known around a row. */
export interface RowFacts {
  readonly sessions: SessionsState;
  readonly current: string;
  readonly defaultAgentId: string;
  readonly selected: ReadonlySet<string> | undefined;
  /** This browser may change the list. */
  readonly may: boolean;
  /** Sessions in which something waits for a decision. */
  readonly asking: ReadonlySet<string>;
}

/** What rows ask for. */
export interface RowWishes {
  act(action: ListAction): void;
  select(key: string, on: boolean): void;
  move(key: string): void;
  left(): void;
  openFolder(name: string, isOpen: boolean): void;
  renameFolder(name: string): void;
}

/** What can be done to one session. */
function actions({ key, title, pinned, archived, folder }: ListedSession, { act, select, move }: RowWishes): TemplateResult {
  const out = (): void => act({ do: "move", keys: [key], folder: null, from: new Map([[key, folder]]) });
  const entries: readonly MenuEntry[] = [
    { label: pinned ? t("Unpin") : t("Pin"), run: () => act({ do: pinned ? "unpin" : "pin", keys: [key] }) },
    { label: t("Move to folder…"), run: () => move(key) },
    ...(folder === undefined ? [] : [{ label: t("Take out of folder"), run: out }]),
    { label: archived ? t("Unarchive") : t("Archive"), run: () => act({ do: archived ? "unarchive" : "archive", keys: [key] }) },
    { label: t("Select"), run: () => select(key, true) },
    { label: t("Delete"), danger: true, run: () => act({ do: "delete", keys: [key] }) },
  ];
  return html`<oc-menu-button class="about" label=${t`Actions for ${title}`} .entries=${entries}></oc-menu-button>`;
}

/** The second line: what happens there, or what was said last. */
function line({ key, preview }: ListedSession, running: boolean, { asking }: RowFacts): TemplateResult {
  if (asking.has(key)) return html`<span class="preview grow cut">${t("Waiting for approval")}</span><span class="state">${t("Approval")}</span>`;
  if (running) return html`<span class="preview grow cut">${t("Writing an answer")}</span>`;
  return html`<span class="preview grow cut" dir="auto">${preview ?? ""}</span>`;
}

/** One conversation of the list. */
export function sessionRow({ session, at, of }: Extract<ListItem, { readonly kind: "session" }>, facts: RowFacts, wishes: RowWishes): TemplateResult {
  const { sessions, current, defaultAgentId, selected, may } = facts;
  const { key, title } = session;
  const here = key === current;
  const running = [...sessions.running.values()].includes(key);
  const unread = !here && !running && isUnread(session, sessions.seen);
  const isFirst = isMain(key) && session.agentId === defaultAgentId;
  const canDelete = may && !isFirst;
  return html`<li class="session ${selected ? "choosing" : ""}" aria-setsize=${of} aria-posinset=${at}>
    ${
      selected && canDelete
        ? html`<input
            class="choose"
            type="checkbox"
            aria-label=${t`Select ${title}`}
            .checked=${selected.has(key)}
            @change=${(event: Event) => wishes.select(key, (event.target as HTMLInputElement).checked)}
          />`
        : nothing
    }
    <a
      href=${place("chat", isFirst ? [] : [key])}
      class=${unread ? "unread" : ""}
      aria-current=${here ? "page" : "false"}
      title=${key}
      @click=${() => wishes.left()}
    >
      <span class="line">
        ${running ? html`<span class="dot running" role="img" aria-label=${t("answering")}></span>` : unread ? html`<span class="dot" role="img" aria-label=${t("unread")}></span>` : nothing}
        <span class="title grow cut" dir="auto">${title}</span>
        ${session.where === undefined ? nothing : html`<span class="badge">${capital(session.where)}</span>`}
      </span>
      <span class="line">
        ${line(session, running, facts)}
        ${session.updatedAt === 0 ? nothing : html`<time class="time" title=${exactly(session.updatedAt)}>${ago(session.updatedAt)}</time>`}
      </span>
    </a>
    ${canDelete && !selected ? actions(session, wishes) : nothing}
  </li>`;
}

/** The heading of a folder: opens and closes it. */
export function folderHead({ name, total, isOpen }: FolderHead, may: boolean, { openFolder, renameFolder, act }: RowWishes): TemplateResult {
  const entries: readonly MenuEntry[] = [
    { label: t("Rename"), run: () => renameFolder(name) },
    { label: t("Remove folder"), run: () => act({ do: "folder", folder: name, name: null }) },
  ];
  return html`<h2 class="folder">
    <button class="plain" aria-expanded=${isOpen ? "true" : "false"} @click=${() => openFolder(name, !isOpen)}>
      ${icon(isOpen ? "down" : "right", 14)}<span class="cut grow" dir="auto">${name}</span><span class="faint">${figure(total)}</span>
    </button>
    ${may ? html`<oc-menu-button class="about" label=${t`Actions for folder ${name}`} .entries=${entries}></oc-menu-button>` : nothing}
  </h2>`;
}

interface FootFacts {
  readonly sessions: SessionsState;
  /** What this browser deleted and can bring back. */
  readonly deleted: readonly Deletion[];
  readonly isDeletedOpen: boolean;
}

interface FootWishes {
  view(view: ListView): void;
  openDeleted(isOpen: boolean): void;
  restore(deletion: Deletion): void;
}

/** Ways to what the list of conversations does not show. */
export function listFoot({ sessions, deleted, isDeletedOpen }: FootFacts, { view, openDeleted, restore }: FootWishes): TemplateResult | typeof nothing {
  const { archive, automation, view: now } = sessions;
  if (archive.total + automation.total + deleted.length === 0) return nothing;
  const toggle = (label: string, isOpen: boolean, count: number, open: () => void, title = ""): TemplateResult | typeof nothing =>
    count === 0
      ? nothing
      : html`<button class="plain small" title=${title === "" ? nothing : title} aria-expanded=${isOpen ? "true" : "false"} @click=${open}>${label}</button>`;
  const verb = (isOpen: boolean): string => (isOpen ? t("Hide") : t("Show"));
  const switchTo = (name: ListView) => () => view(now === name ? "chats" : name);
  return html`<div class="apart">
    ${
      isDeletedOpen && deleted.length > 0
        ? html`<section aria-label=${t("Deleted")}>
            <h2>${t("Deleted")}</h2>
            <ul>
              ${deleted.map(
                (one) =>
                  html`<li class="deleted">
                    <span class="grow cut" dir="auto" title=${one.key}>${one.title}</span>
                    <button class="small" aria-label=${t`Restore ${one.title}`} @click=${() => restore(one)}>${t("Restore")}</button>
                  </li>`,
              )}
            </ul>
          </section>`
        : nothing
    }
    ${toggle(t`${verb(now === "archive")} archived (${figure(archive.total)})`, now === "archive", archive.total, switchTo("archive"))}
    ${toggle(t`${verb(now === "automation")} automation (${figure(automation.total)})`, now === "automation", automation.total, switchTo("automation"), t("Sessions of jobs, webhooks, sub-agents and heartbeats"))}
    ${toggle(t`${verb(isDeletedOpen)} deleted (${figure(deleted.length)})`, isDeletedOpen, deleted.length, () => openDeleted(!isDeletedOpen))}
  </div>`;
}

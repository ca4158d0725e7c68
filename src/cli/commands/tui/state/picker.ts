export interface PickerItem {
  readonly value: string;
  readonly label: string;
  readonly detail: string;
  /** How deep it hangs below the one before it. */
  readonly level?: number;
  /** What can be done with it, where that is asked next. */
  readonly actions?: readonly (SubagentAction | JobAction)[];
}

/** What can be done with a sub-agent. */
export type SubagentAction = "open" | "steer" | "stop";
/** What can be done with a scheduled job. */
export type JobAction = "run" | "history" | "enable" | "disable";

/** A list to choose from. */
export interface Picker {
  readonly kind: "models" | "agents" | "sessions" | "subagents" | "subagent" | "jobs" | "job" | "settings" | "shell";
  readonly title: string;
  /** Undefined until they came. */
  readonly items: readonly PickerItem[] | undefined;
  readonly filter: string;
  /** Letters filter; before, `j` and `k` move. */
  readonly filtering: boolean;
  readonly selected: number;
  /** Where the gateway has more than was sent: how many there are in all. */
  readonly total?: number | undefined;
  /** The words that the gateway looked for; the items are what it found. */
  readonly found?: string | undefined;
  /** The gateway is asked. */
  readonly asking?: boolean | undefined;
  /** When the gateway was asked for a list that changes by itself. */
  readonly askedAt?: number | undefined;
  /** Something changed since the gateway was asked. */
  readonly outdated?: boolean | undefined;
  /** What is chosen now. */
  readonly current?: string | undefined;
  /** The command that the question is about. */
  readonly command?: string | undefined;
  /** The session of the sub-agent, or the id of the job, that the question is about. */
  readonly subject?: string | undefined;
}

export function openPicker(kind: Picker["kind"], title: string, rest: Partial<Picker> = {}): Picker {
  return withSelection({ kind, title, items: undefined, filter: "", filtering: false, selected: 0, ...rest });
}

/** What passes the filter: every word of it somewhere. What the gateway found has passed it, also where it looked at more than is shown. */
export function shownItems({ items = [], filter, found }: Picker): readonly PickerItem[] {
  if (found !== undefined && found === filter.trim()) return items;
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? items : items.filter(({ label, detail }) => words.every((word) => `${label} ${detail}`.toLowerCase().includes(word)));
}

/** Items as the gateway sent them. */
export interface Found {
  readonly items: readonly PickerItem[];
  readonly total?: number | undefined;
  readonly search?: string | undefined;
}

/**
 * The items came: at first the choice begins at what is chosen now, more of the same leave it where it is, and others begin at their first. Lists that change
 * by themselves leave it on the same item.
 */
export function withItems(picker: Picker, { items, total, search }: Found): Picker {
  const next: Picker = { ...picker, items, total, found: search, asking: false, outdated: false };
  if (picker.items === undefined) return withSelection(next);
  const before = picker.kind === "subagents" || picker.kind === "jobs" ? shownItems(picker)[picker.selected]?.value : undefined;
  const same = shownItems(next).findIndex(({ value }) => value === before);
  if (same >= 0) return { ...next, selected: same };
  const last = Math.max(0, shownItems(next).length - 1);
  return { ...next, selected: picker.found === search ? Math.min(picker.selected, last) : 0 };
}

const PAGE = 200;

/** What the gateway has to be asked for now: other words, or more of the same. Undefined: nothing, or it is asked already. */
export function wantedItems({
  kind,
  items,
  filter,
  found,
  total = 0,
  selected,
  asking,
}: Picker): { readonly search: string; readonly limit: number } | undefined {
  if (kind !== "sessions" || asking || items === undefined || found === undefined) return undefined;
  const search = filter.trim();
  if (search !== found) return { search, limit: PAGE };
  return items.length < total && selected >= items.length - 1 ? { search, limit: items.length + PAGE } : undefined;
}

function withSelection(picker: Picker): Picker {
  const at = shownItems(picker).findIndex(({ value }) => value === picker.current);
  return { ...picker, selected: Math.max(0, at) };
}

const STEPS: Readonly<Record<string, number>> = { up: -1, "ctrl+p": -1, down: 1, "ctrl+n": 1, pageup: -10, pagedown: 10, home: -Infinity, end: Infinity };

export type PickerAnswer = { readonly picker: Picker } | { readonly chosen: PickerItem } | "closed";

function moved(picker: Picker, by: number): Picker {
  const last = shownItems(picker).length - 1;
  return { ...picker, selected: Math.max(0, Math.min(last, picker.selected + by)) };
}

/** What a key does. */
export function pickerKey(picker: Picker, key: string): PickerAnswer {
  if (key === "enter") {
    const chosen = shownItems(picker)[picker.selected];
    return chosen ? { chosen } : { picker };
  }
  if (key === "escape" || key === "ctrl+c") return picker.filter !== "" && key === "escape" ? { picker: { ...picker, filter: "", selected: 0 } } : "closed";
  if (key === "backspace") return { picker: { ...picker, filter: Array.from(picker.filter).slice(0, -1).join(""), selected: 0 } };
  if (key === "ctrl+u") return { picker: { ...picker, filter: "", selected: 0 } };
  const step = STEPS[key];
  return { picker: step === undefined ? picker : moved(picker, step) };
}

/** What typing does. */
export function pickerText(picker: Picker, text: string): Picker {
  if (!picker.filtering) {
    if (text === "j") return moved(picker, 1);
    if (text === "k") return moved(picker, -1);
    if (text === "/") return { ...picker, filtering: true };
  }
  return { ...picker, filtering: true, filter: picker.filter + text, selected: 0 };
}

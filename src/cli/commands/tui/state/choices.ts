import type { PickerItem } from "./picker.ts";
import { runShell } from "./sending.ts";
import { entered } from "./session.ts";
import { settingsItems, toAgent } from "./slash.ts";
import { and, only, type Context, type Next, type State } from "./state.ts";

function setting(state: State, value: string): Next {
  const { show, preferences, mouse } = state;
  const changed: State = {
    ...state,
    show: { tools: value === "tools" ? !show.tools : show.tools, thinking: value === "thinking" ? !show.thinking : show.thinking },
    preferences: { ...preferences, deliver: value === "deliver" ? !preferences.deliver : preferences.deliver },
    mouse: value === "mouse" ? !mouse : mouse,
  };
  const picker = state.picker && { ...state.picker, items: settingsItems(changed) };
  return and({ ...changed, picker }, ...(value === "mouse" ? [{ kind: "mouse" as const, on: changed.mouse }] : []));
}

/** Something was chosen from a list. */
export function chosen(state: State, item: PickerItem, _context: Context): Next {
  const { picker } = state;
  if (!picker) return only(state);
  if (picker.kind === "settings") return setting(state, item.value);
  const closed: State = { ...state, picker: undefined };
  if (picker.kind === "agents") return toAgent(closed, item.value);
  if (picker.kind === "sessions") return entered(closed, item.value);
  if (picker.kind === "models") return and(closed, { kind: "patch", sessionKey: state.sessionKey, field: "model", value: item.value });
  if (item.value !== "yes" || picker.command === undefined) return only(closed);
  return runShell({ ...closed, shell: { ...closed.shell, allowed: true } }, picker.command);
}

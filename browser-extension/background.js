/**
 * Shares tabs with the OpenClaw gateway of this machine. A tab is shared by a click on the button and by nothing else; another click ends it. The gateway
 * may attach to, ask of, release and give back shared tabs only.
 */
import { refusalOf } from "./commands.js";
import { createLink } from "./link.js";
import { settings } from "./settings.js";

/** Shared tabs; true: the gateway is attached to it. */
const shared = new Map();
let [state, port] = ["waiting", ""];

const BADGES = {
  on: { text: "ON", color: "#1a7f37", title: "attached" },
  waiting: { text: "…", color: "#9a6700", title: "waiting" },
  noSecret: { text: "!", color: "#b42318", title: "noSecret" },
  impostor: { text: "!", color: "#b42318", title: "impostor" },
  refused: { text: "!", color: "#b42318", title: "refused" },
};

async function badge(tabId, { text, color, title }) {
  try {
    await Promise.all([
      chrome.action.setBadgeText({ tabId, text }),
      chrome.action.setBadgeBackgroundColor({ tabId, color }),
      chrome.action.setTitle({ tabId, title }),
    ]);
  } catch {
    // The tab is gone.
  }
}

const NONE = { text: "", color: "#000000" };

function show(tabId) {
  const { text, color, title } = shared.has(tabId) ? BADGES[state] : { ...NONE, title: "attach" };
  void badge(tabId, { text, color, title: chrome.i18n.getMessage(title, port) });
}

const store = () => chrome.storage.session.set({ shared: [...shared.keys()] });

const link = createLink({
  wanted: () => shared.size > 0,
  async settings() {
    const found = await settings();
    port = String(found?.port ?? "");
    return found;
  },
  changed(next) {
    state = next;
    for (const tabId of shared.keys()) {
      show(tabId);
      // One that was shared during the handshake is not in its list.
      if (next === "on") link.send({ type: "shared", tab: tabId });
    }
  },
  tabs: () => [...shared.keys()],
  received: (message) => void take(message),
  closed() {
    // Nobody answers for these tabs any more: what they wait for goes on.
    for (const tabId of shared.keys()) void release(tabId);
  },
});

async function release(tabId) {
  if (shared.get(tabId) !== true) return;
  shared.set(tabId, false);
  await chrome.debugger.detach({ tabId }).catch(() => undefined);
}

async function unshare(tabId) {
  if (!shared.has(tabId)) return;
  await release(tabId);
  shared.delete(tabId);
  link.send({ type: "unshared", tab: tabId });
  show(tabId);
  await store();
  if (shared.size === 0) link.close();
}

async function attach(tabId) {
  if (!shared.has(tabId)) throw new Error("this tab is not shared");
  try {
    if (!shared.get(tabId)) await chrome.debugger.attach({ tabId }, "1.3");
    shared.set(tabId, true);
    const { targetInfo } = await chrome.debugger.sendCommand({ tabId }, "Target.getTargetInfo");
    return targetInfo;
  } catch (error) {
    await unshare(tabId);
    await badge(tabId, { text: "!", color: "#b42318", title: chrome.i18n.getMessage("cannotAttach", String(error?.message ?? error)) });
    throw error;
  }
}

/** Passes a command on; nothing is waited for before that, so that commands keep their order. */
function command({ tab, session, method, params }) {
  if (shared.get(tab) !== true) return Promise.reject(new Error("this tab is not shared"));
  const refusal = refusalOf(method, params);
  if (refusal !== undefined) return Promise.reject(new Error(refusal));
  return chrome.debugger.sendCommand(session === undefined ? { tabId: tab } : { tabId: tab, sessionId: session }, method, params ?? {});
}

/** Errors of the debugger come as JSON in their text. */
function textOf(error) {
  const text = String(error?.message ?? error);
  try {
    return String(JSON.parse(text).message ?? text);
  } catch {
    return text;
  }
}

async function take(message) {
  const { type, id, tab } = message;
  if (type === "release") return release(tab);
  if (type === "unshare") return unshare(tab);
  if (type !== "attach" && type !== "command") return undefined;
  try {
    link.send({ type: "result", id, result: await (type === "attach" ? attach(tab) : command(message)) });
  } catch (error) {
    link.send({ type: "result", id, error: textOf(error).slice(0, 1000) });
  }
  return undefined;
}

/** A worker that was ended takes up the tabs that its predecessor shared. */
async function restore() {
  const { shared: before = [] } = await chrome.storage.session.get("shared");
  if (before.length === 0) return;
  const attached = new Set((await chrome.debugger.getTargets()).flatMap((target) => (target.attached && target.tabId !== undefined ? [target.tabId] : [])));
  for (const tabId of before) {
    // Whatever was being done in it was left by half.
    if (attached.has(tabId)) await chrome.debugger.detach({ tabId }).catch(() => undefined);
    if (!shared.has(tabId)) shared.set(tabId, false);
    show(tabId);
  }
  await link.connect();
}

const restored = restore().catch(() => undefined);

async function share(tabId) {
  if ((await settings()) === undefined) void chrome.runtime.openOptionsPage();
  shared.set(tabId, false);
  show(tabId);
  await store();
  if (link.isReady()) link.send({ type: "shared", tab: tabId });
  else await link.connect();
}

chrome.action.onClicked.addListener(async ({ id: tabId }) => {
  await restored;
  if (tabId !== undefined) await (shared.has(tabId) ? unshare(tabId) : share(tabId));
});

chrome.debugger.onEvent.addListener(({ tabId, sessionId }, method, params) => {
  if (shared.get(tabId) === true) link.send({ type: "event", tab: tabId, session: sessionId, method, params });
});

/** The user ended it in Chrome's own bar, or the tab went somewhere that cannot be shared. */
chrome.debugger.onDetach.addListener(({ tabId }) => {
  if (!shared.has(tabId)) return;
  shared.set(tabId, false);
  void unshare(tabId);
});

chrome.tabs.onRemoved.addListener((tabId) => void restored.then(() => unshare(tabId)));
// A new page in the tab clears what the button shows.
chrome.tabs.onUpdated.addListener((tabId, { status }) => {
  if (status !== undefined && shared.has(tabId)) show(tabId);
});
chrome.storage.local.onChanged.addListener(() => {
  link.close();
  void link.connect();
});

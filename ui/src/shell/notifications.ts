/** Notifications for people who look elsewhere while this page is open: a command waits for approval, or a long run has ended. */
import { readableKey } from "openclaw/client";
import { keep } from "../base/keep.ts";
import { t } from "../words/words.ts";
import type { PageContext } from "./context.ts";
import { place } from "./router.ts";

/** A run that took less is not worth a notification. */
const LONG_MS = 20_000;

const isAway = (): boolean => document.hidden || !document.hasFocus();

/** The number on the icon of an installed page. */
function badge(count: number): void {
  const done = count === 0 ? navigator.clearAppBadge?.() : navigator.setAppBadge?.(count);
  done?.catch(() => {}); // Only an installed page has an icon.
}

/** Nothing of commands and answers is in a notification: it may be seen by others. Undefined where the browser shows none, as on Android. */
function show({ router }: Pick<PageContext, "router">, id: string, title: string, sessionKey: string | null | undefined): Notification | undefined {
  let notification: Notification;
  try {
    notification = new Notification(title, { tag: id, icon: "icon-192.png", body: sessionKey ? readableKey(sessionKey) : "" });
  } catch {
    return undefined;
  }
  notification.addEventListener("click", () => {
    window.focus();
    router.go(place("chat", sessionKey ? [sessionKey] : []));
    notification.close();
  });
  return notification;
}

/** Offers notifications once, when one would have helped. */
function offer({ toasts }: Pick<PageContext, "toasts">): void {
  if (keep.text("notifications") !== undefined) return;
  keep.setText("notifications", "offered");
  toasts.say(t("Something needed your attention while you were away."), {
    label: t("Turn on notifications"),
    run: () => void Notification.requestPermission(),
  });
}

export function createNotifications(context: Pick<PageContext, "link" | "router" | "toasts" | "approvals">): void {
  const { link, approvals } = context;
  const shown = new Map<string, Notification>();
  const started = new Map<string, number>();
  let known: ReadonlySet<string> = new Set();
  let missed = false;

  function notify(id: string, title: string, sessionKey: string | null | undefined): void {
    if (!("Notification" in window) || !isAway()) return;
    missed ||= Notification.permission === "default";
    const notification = Notification.permission === "granted" ? show(context, id, title, sessionKey) : undefined;
    if (notification) shown.set(id, notification);
  }

  approvals.state.subscribe(({ waiting }) => {
    const now = new Set(waiting.map(({ id }) => id));
    // The icon keeps its number when the page is closed: it is put right with the first answer, though that is none.
    badge(now.size);
    for (const { id, request } of waiting) if (!known.has(id)) notify(id, t("Approval needed"), request.sessionKey);
    for (const id of known) {
      if (now.has(id)) continue;
      shown.get(id)?.close();
      shown.delete(id);
    }
    known = now;
  });
  link.on("agent", ({ runId, stream, sessionKey, data }) => {
    if (stream !== "lifecycle") return;
    if (data.phase === "start") {
      started.set(runId, performance.now());
      return;
    }
    const since = started.get(runId);
    started.delete(runId);
    if (since === undefined || performance.now() - since < LONG_MS) return;
    notify(runId, data.phase === "error" ? t("A run failed") : t("An answer is ready"), sessionKey);
  });
  window.addEventListener("focus", () => {
    if (missed) offer(context);
    missed = false;
  });
}

/** Commands of the whole page: what is not about one chat, job, agent or node. */
import { randomId } from "../../base/random-id.ts";
import { newSessionKey } from "../../pages/chat/sidebar-groups.ts";
import { availability } from "../../pages/update/update-facts.ts";
import { chooseLanguage, language, LANGUAGES, t } from "../../words/words.ts";
import type { PageContext } from "../context.ts";
import { place } from "../router.ts";
import type { Entry } from "./entries.ts";
import { attempt } from "./sources.ts";

const CHECK_MS = 120_000;

const backUp = (context: PageContext): Promise<void> =>
  attempt(context, async () => {
    await context.link.request("backup.create", { includeWorkspace: false, idempotencyKey: randomId() });
    context.toasts.say(t("The backup is being created."));
    context.router.go("backups");
  });

const checkForUpdates = (context: PageContext): Promise<void> =>
  attempt(context, async () => {
    const { link, router, toasts } = context;
    toasts.say(t("Checking for updates…"));
    const status = await link.request("update.check", { confirm: true }, { timeoutMs: CHECK_MS });
    toasts.say(availability(status).text, { label: t("Show"), run: () => router.go("update") });
  });

async function restart(context: PageContext): Promise<void> {
  const { dialogs, link, toasts } = context;
  const body = t("Running answers get up to 30 seconds to finish and continue after the restart if needed. This page reconnects automatically.");
  if (!(await dialogs.confirm({ title: t("Restart the gateway?"), body, yes: t("Restart") }))) return;
  await attempt(context, async () => {
    await link.request("update.restart", { confirm: true });
    toasts.say(t("The gateway is restarting."));
  });
}

/** Browsers have notifications on secure pages only, and ask once. */
const mayAskToNotify = (): boolean => "Notification" in window && Notification.permission === "default";

async function turnOnNotifications({ toasts }: PageContext): Promise<void> {
  const answer = await Notification.requestPermission();
  if (answer === "granted") toasts.say(t("Notifications are on."));
  else toasts.warn(t("The browser does not allow notifications for this page. Change that in its settings for this site."));
}

/** Commands that are always there. What can be undone offers it. */
export function commandEntries(context: PageContext, agentId: string): readonly Entry[] {
  const { router, theme, toasts, link, dialogs } = context;
  const isAdmin = link.may("operator.admin");
  const command = (id: string, icon: Entry["icon"], label: string, run: () => unknown, more: Partial<Entry> = {}): Entry => ({
    id: `command/${id}`,
    group: "commands",
    icon,
    label,
    run,
    ...more,
  });
  const themes = [
    ["light", "sun", t("Use the light theme")],
    ["dark", "moon", t("Use the dark theme")],
    ["system", "half", t("Use the system's theme")],
  ] as const;
  const use = (choice: (typeof themes)[number][0]): void => {
    const before = theme.choice.value;
    theme.choose(choice);
    toasts.say(t("Theme changed"), { label: t("Undo"), run: () => theme.choose(before) });
  };
  const contrast = (on: boolean): void => {
    theme.setMoreContrast(on);
    toasts.say(t("Contrast changed"), { label: t("Undo"), run: () => theme.setMoreContrast(!on) });
  };
  const leave = async (): Promise<void> => {
    const body = t("Every tab of this browser is signed out. You need a new sign-in link or the token to come back.");
    if (await dialogs.confirm({ title: t("Sign out this browser?"), body, yes: t("Sign out"), danger: true })) link.logout();
  };
  const probe = (): Promise<void> =>
    attempt(context, async () => {
      await link.request("channels.status", { probe: true }, { timeoutMs: 60_000 });
      toasts.say(t("Connections checked"));
      router.go("channels");
    });
  return [
    command("new-chat", "plus", t("New chat"), () => router.go(place("chat", [newSessionKey(agentId)])), { keys: "ctrl-shift-o" }),
    ...(isAdmin && link.has("cron.add") ? [command("new-job", "automation", t("Add job"), () => router.go(place("jobs", ["new"])))] : []),
    ...(link.has("channels.status") ? [command("probe", "channels", t("Check connections"), probe)] : []),
    ...(isAdmin && link.has("backup.create") ? [command("backup", "archive", t("Back up now"), () => backUp(context))] : []),
    ...(isAdmin && link.has("update.check") ? [command("update", "update", t("Check for updates"), () => checkForUpdates(context))] : []),
    ...(isAdmin && link.has("update.restart") ? [command("restart", "retry", t("Restart gateway…"), () => restart(context))] : []),
    ...(mayAskToNotify() ? [command("notify", "info", t("Turn on notifications"), () => turnOnNotifications(context))] : []),
    ...themes.filter(([choice]) => choice !== theme.choice.value).map(([choice, icon, label]) => command(`theme/${choice}`, icon, label, () => use(choice))),
    command("contrast", "half", theme.hasMoreContrast ? t("Use the system's contrast") : t("Use more contrast"), () => contrast(!theme.hasMoreContrast)),
    ...LANGUAGES.filter(({ tag }) => tag !== language).map(({ tag, name }) =>
      command(`language/${tag}`, "globe", t`Change the language to ${name}`, () => chooseLanguage(tag)),
    ),
    command("sign-out", "key", t("Sign out this browser…"), leave),
  ];
}

import { forgetDeletions } from "./pages/chat/deletions.ts";
import { createShelf } from "./base/shelf.ts";
import { createLink, type Credentials } from "./link/link.ts";
import { createTheme } from "./look/theme.ts";
import { createDialogs, DialogHost } from "./parts/dialogs.ts";
import { createToasts, ToastStack } from "./parts/toasts.ts";
import { createApprovals } from "./pages/chat/approvals-board.ts";
import "./pages/chat/chat-page.ts";
import { App } from "./shell/app.ts";
import type { PageContext } from "./shell/context.ts";
import { createNotifications } from "./shell/notifications.ts";
import { reportHeldChanges } from "./shell/held-report.ts";
import { createOffline } from "./shell/offline.ts";
import { createRouter } from "./shell/router.ts";
import { language } from "./words/words.ts";

/** The code of a login link, taken out of the address at once: it is not for the history. */
function takeCode(): Credentials {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? undefined;
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  return code === undefined ? {} : { code };
}

document.documentElement.lang = language;
const credentials = takeCode();
const shelf = createShelf();
const forget = (): void => {
  forgetDeletions();
  void shelf.clear();
};
const link = createLink({ forget });
const context: PageContext = {
  link,
  shelf,
  router: createRouter(),
  approvals: createApprovals({ link, now: () => performance.now(), later: (work, ms) => void setTimeout(work, ms) }),
  theme: createTheme(),
  toasts: createToasts(),
  dialogs: createDialogs(),
};
const app = Object.assign(new App(), { context });
const toasts = Object.assign(new ToastStack(), { toasts: context.toasts });
const dialogs = Object.assign(new DialogHost(), { dialogs: context.dialogs });
document.body.append(app, toasts, dialogs);
createNotifications(context);
createOffline(context);
reportHeldChanges(context);
void link.login(credentials);

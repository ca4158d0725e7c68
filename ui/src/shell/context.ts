import type { Shelf } from "../base/shelf.ts";
import type { Link } from "../link/link.ts";
import type { Theme } from "../look/theme.ts";
import type { Dialogs } from "../parts/dialogs.ts";
import type { Toasts } from "../parts/toasts.ts";
import type { Approvals } from "../pages/chat/approvals-board.ts";
import type { Router } from "./router.ts";

/** What every page is given. */
export interface PageContext {
  readonly link: Link;
  /** Empty whenever nobody is in. */
  readonly shelf: Shelf;
  readonly router: Router;
  /** What waits for a decision. */
  readonly approvals: Approvals;
  readonly theme: Theme;
  readonly toasts: Toasts;
  readonly dialogs: Dialogs;
}

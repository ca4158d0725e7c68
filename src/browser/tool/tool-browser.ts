/** What the tool needs of a browser, wherever that runs. */
import type { PageAnswer } from "../answers.ts";
import type { Browser, BrowserStatus, Caller, ProfileStatus } from "../create-browser.ts";
import type { Picture } from "../files.ts";
import type * as operations from "../operations.ts";
import type { TabRow } from "../operations.ts";
import type { Params } from "../params.ts";
import type { ConsoleEntry } from "../tab.ts";

/** One call of the tool. */
export interface Asked {
  readonly caller: Caller;
  readonly params: Params;
}

type Ask<T> = (asked: Asked) => Promise<T>;
interface InTab {
  readonly targetId: string;
}

export interface ToolBrowser {
  /** Nobody here has checked what it answers: all of it is text of others. */
  readonly isForeign: boolean;
  /** The profile that every call means, whatever it names. */
  readonly profile?: string | undefined;
  /** Asks about hosts that its list does not have. A browser elsewhere has a list of its own, which only its owner changes. */
  readonly consent?: Browser["consent"] | undefined;
  /** Names the browser that a call means, for results that replace each other. */
  keyOf(caller: Caller): string;
  readonly status: Ask<Partial<BrowserStatus>>;
  readonly start: Ask<unknown>;
  readonly stop: Ask<unknown>;
  readonly profiles: Ask<{ readonly profiles: readonly Partial<ProfileStatus>[] }>;
  readonly tabs: Ask<readonly Partial<TabRow>[]>;
  readonly open: Ask<PageAnswer>;
  readonly navigate: Ask<PageAnswer>;
  readonly focus: Ask<unknown>;
  readonly close: Ask<unknown>;
  readonly snapshot: Ask<Awaited<ReturnType<typeof operations.snapshot>>>;
  readonly screenshot: Ask<Picture & InTab>;
  readonly console: Ask<InTab & { readonly messages: readonly ConsoleEntry[] }>;
  readonly pdf: Ask<InTab & { readonly path: string }>;
  readonly upload: Ask<PageAnswer>;
  readonly dialog: Ask<unknown>;
  readonly act: Ask<PageAnswer>;
}

/** The browser of this machine. */
export function browserHere(browser: Browser, ops: typeof operations): ToolBrowser {
  const status = async ({ caller }: Asked): Promise<BrowserStatus> => browser.status(caller.profile);
  return {
    isForeign: false,
    consent: browser.consent,
    keyOf: ({ profile }) => browser.session(profile).profile.name,
    status,
    async start(asked) {
      await browser.session(asked.caller.profile).start();
      return status(asked);
    },
    async stop(asked) {
      await browser.session(asked.caller.profile).stop();
      return status(asked);
    },
    profiles: async () => ({ profiles: browser.profiles() }),
    tabs: (asked) => ops.tabRows({ ...asked, browser }),
    open: (asked) => ops.open({ ...asked, browser }),
    navigate: (asked) => ops.navigate({ ...asked, browser }),
    focus: (asked) => ops.focus({ ...asked, browser }),
    close: (asked) => ops.closeTab({ ...asked, browser }),
    snapshot: (asked) => ops.snapshot({ ...asked, browser }),
    screenshot: (asked) => ops.screenshot({ ...asked, browser }),
    console: (asked) => ops.consoleOf({ ...asked, browser }),
    pdf: (asked) => ops.pdf({ ...asked, browser }),
    upload: (asked) => ops.upload({ ...asked, browser }),
    dialog: (asked) => ops.armDialog({ ...asked, browser }),
    act: (asked) => ops.perform({ ...asked, browser }),
  };
}

/** The browser inside of a session's sandbox. It knows no other profiles. */
export function browserInSandbox(browser: Browser, ops: typeof operations, { id, cdpUrl }: { readonly id: string; readonly cdpUrl: string }): ToolBrowser {
  const profile = browser.attachTo(id, cdpUrl);
  const here = browserHere(browser, ops);
  return {
    ...here,
    profile,
    profiles: async (asked) => ({ profiles: [{ name: "sandbox", running: (await here.status(asked)).running === true, isDefault: true }] }),
  };
}

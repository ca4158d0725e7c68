import { AppError, messageOf, systemCode } from "../base/errors.ts";
import { checkedAddresses } from "../base/guarded-fetch.ts";
import { boundedMs } from "./actions.ts";
import type { Clock } from "../base/clock.ts";
import { changes, refusedSoFar, type PageAnswer, type TabWork, type Work } from "./answers.ts";
import { REFUSED_HEADER } from "./guard-proxy.ts";
import { numberIn } from "./params.ts";
import { ANSWER_MS, checkPage, within } from "./read-tab.ts";
import type { Tab } from "./tab.ts";

export const NAVIGATE_MS = 20_000;
const LATE_SETTLE_MS = 250;
const STOP_MS = 2000;
/** A page gets at least this long to answer once it is there. */
const LEAST_ANSWER_MS = 3000;

const hasScheme = (written: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(written) && !/^[^/:]+:\d+(?:[/?#]|$)/.test(written);

/** The address that was asked for: http and https only, and only where the policy lets a page be. */
export async function allowedUrl({ browser }: Work, written: string): Promise<string> {
  const text = hasScheme(written) ? written : `https://${written}`;
  if (text === "about:blank") return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const [, port] = url ? [] : (/^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(text) ?? []);
  if (port !== undefined && Number(port) > 65_535)
    throw new AppError("INVALID_INPUT", `"${written.slice(0, 100)}" has the port ${port.slice(0, 20)}; ports end at 65535`);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AppError("INVALID_INPUT", `"${written.slice(0, 100)}" is not an http or https URL; only those can be opened`);
  try {
    await checkedAddresses(url.hostname, browser.settings().policy, browser.lookup);
  } catch (error) {
    if (error instanceof AppError && error.code === "HOST_BLOCKED") throw refusal(error.message);
    const code = systemCode(error);
    if (code === "ENOTFOUND" || code === "EAI_AGAIN")
      throw new AppError("UNAVAILABLE", `${url.host} could not be reached: its name could not be resolved; check the address`);
    throw error;
  }
  return url.href;
}

const refusal = (why: string): AppError =>
  new AppError("HOST_BLOCKED", `${why}. The owner can allow it with browser.ssrfPolicy (allowedHostnames, allowPrivateNetwork, hostnameAllowlist)`, {
    details: { reason: "ssrfPolicy" },
  });

const NETWORK: readonly (readonly [RegExp, string])[] = [
  [/ERR_TOO_MANY_REDIRECTS/, "it redirects in a loop"],
  [/ERR_(?:TUNNEL|PROXY)_CONNECTION_FAILED|ERR_CONNECTION|ERR_ADDRESS_UNREACHABLE|ERR_EMPTY_RESPONSE/, "it could not be reached; check the address"],
  [/ERR_SSL_PROTOCOL_ERROR/, "it does not use https there; to use http, write the address with http://"],
  [/ERR_CERT|ERR_SSL/, "its certificate is not trusted"],
  [/ERR_UNSAFE_REDIRECT/, "it redirects to a URL that is not http or https"],
  [/ERR_UNSAFE_PORT/, "browsers do not open that port"],
  [/ERR_INVALID_AUTH|ERR_RESPONSE_HEADERS|ERR_HTTP2|ERR_INVALID/, "its response is not a page"],
];

/** A navigation that did not arrive, in words. Undefined: it did arrive, in its way. */
function navigationError(error: unknown, url: string, timeout: number, inTab: TabWork, since: number): AppError | undefined {
  const text = messageOf(error);
  const host = URL.canParse(url) ? new URL(url).host : url;
  const last = inTab.session.running()?.refusals(since).at(-1);
  if (/Download is starting/i.test(text)) return undefined;
  if (last && /ERR_TUNNEL|ERR_FAILED|ERR_BLOCKED|ERR_ABORTED/.test(text)) return refusal(last.why);
  // The address answered with nothing to show, or the page went on to another one.
  if (/ERR_ABORTED|interrupted by another navigation/.test(text)) return undefined;
  if (/Timeout/.test(text)) return new AppError("TIMEOUT", `${host} did not answer within ${timeout} ms`);
  const known = NETWORK.find(([pattern]) => pattern.test(text))?.[1];
  return new AppError("UNAVAILABLE", `${host} was not opened: ${known ?? (/net::\w+/.exec(text)?.[0] || text.split("\n")[0]?.slice(0, 200))}`);
}

/** Goes to an address. A page that does not finish loading is shown as far as it is there. */
export async function goTo(inTab: TabWork, url: string): Promise<PageAnswer> {
  const { tab, params, browser } = inTab;
  const { page } = tab;
  const timeout = boundedMs(numberIn(params, "timeoutMs"), NAVIGATE_MS);
  const end = browser.clock.monotonic() + timeout;
  const since = refusedSoFar(inTab);
  const notes: string[] = [];
  let isLate = false;
  try {
    const response = await page.goto(url, { waitUntil: "commit", timeout });
    const own = response?.headers()[REFUSED_HEADER];
    const last = inTab.session.running()?.refusals(since).at(-1);
    if (own === "refused" && last) throw refusal(last.why);
    if (own === "unreachable") throw new AppError("UNAVAILABLE", `${new URL(response?.url() ?? url).host} could not be reached; check the address`);
    if (response && response.status() >= 400) notes.push(`the server answered with status ${response.status()}`);
    isLate = !(await page.waitForLoadState("domcontentloaded", { timeout: Math.max(1, end - browser.clock.monotonic()) }).then(
      () => true,
      () => false,
    ));
    if (isLate) notes.push(`the page was still loading after ${timeout} ms; this is its content so far`);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const failed = page.isClosed() || tab.page !== page ? error : navigationError(error, url, timeout, inTab, since);
    if (failed !== undefined) {
      await stopLoading(tab, browser.clock);
      throw failed;
    }
  }
  checkPage(tab, page);
  // What was lost is left behind.
  tab.reloaded = undefined;
  tab.notes.push(...notes);
  tab.dialogsInRow = 0;
  // What did not load in time is not waited for again.
  return changes(inTab, since, { page, answerMs: Math.min(ANSWER_MS, Math.max(timeout, LEAST_ANSWER_MS)), ...(isLate ? { settleMs: LATE_SETTLE_MS } : {}) });
}

/** Ends a load that nobody waits for any more. */
async function stopLoading(tab: Tab, clock: Clock): Promise<void> {
  tab.pending.clear();
  if (tab.page.isClosed()) return;
  const stop = async (): Promise<void> => {
    const session = await tab.page.context().newCDPSession(tab.page);
    await session.send("Page.stopLoading");
    await session.detach();
  };
  // A page whose scripts are busy does not even stop.
  await within(clock, STOP_MS, stop(), "still loading").catch(() => undefined);
}

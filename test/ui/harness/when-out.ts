import type { Page } from "playwright-core";
import type { PageWindow } from "../../harness/in-page.ts";

/** When the page asks who is there, by the clock. The page looks by itself: this process may be busy, or wait for a command, meanwhile. */
export async function whenOut(page: Page): Promise<number> {
  const seen = await page.waitForFunction(
    () => {
      const { document } = globalThis as unknown as PageWindow;
      const login = document.querySelector("oc-app")?.shadowRoot?.querySelector("oc-login-view");
      return login?.shadowRoot?.querySelector("form") ? Date.now() : 0;
    },
    undefined,
    { polling: 20 },
  );
  return seen.jsonValue();
}

import type { Page } from "playwright-core";
import type { PageRoot, PageWindow } from "../../harness/in-page.ts";

/** Resolves when the page, shadow trees included, has said the same for a while: what it asked for is there. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const { document, requestAnimationFrame } = globalThis as unknown as PageWindow;
    const said = (root: PageRoot): string =>
      [...root.querySelectorAll("*")].map((element) => element.localName + (element.shadowRoot ? said(element.shadowRoot) : "")).join() +
      (root.textContent ?? "");
    let last = "";
    for (let same = 0; same < 4; same += 1) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = said(document).replace(/\d+/g, "");
      if (now !== last) same = -1;
      last = now;
    }
  });
}

import type { Locator } from "playwright-core";

/** Chooses in one of the page's selects, as a person does: opens it and takes the entry with this value. */
export async function choose(select: Locator, value: string): Promise<void> {
  await select.click();
  await select
    .page()
    .locator(`[role="option"][data-value=${JSON.stringify(value)}]`)
    .click();
}

/** The value that one of the page's selects has. */
export const chosenIn = (select: Locator): Promise<string> =>
  select.evaluate((element) => {
    const { host } = (element as unknown as { getRootNode(): { readonly host: { readonly value: string } } }).getRootNode();
    return host.value;
  });

import { t } from "../words/words.ts";

/** Puts a text on the clipboard. Rejects with words for the user where the browser does not allow that, as over plain HTTP. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (cause) {
    throw new Error(t("The browser blocked copying. Select the text and copy it manually"), { cause });
  }
}

import { saveFile } from "../../base/save-file.ts";
import { firstWords } from "./model/again.ts";

/** A name for an answer that is saved: how it begins, or its day. */
function fileName(text: string, at: number, ending: string): string {
  const words = firstWords(text.replaceAll(/[#*`_>|[\]()]/g, ""))
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 48)
    .toLowerCase();
  return `${words === "" ? `answer-${new Date(at).toISOString().slice(0, 10)}` : words}.${ending}`;
}

export async function saveAnswer(text: string, at: number): Promise<void> {
  saveFile(fileName(text, at, "md"), "text/markdown;charset=utf-8", [text]);
}

/** Browsers share plain text; most refuse the type of Markdown. */
const sharedFile = (text: string, name: string): File => new File([text], name, { type: "text/plain" });

/** Whether the browser hands files to other apps, as phones do. */
export const canShare = (): boolean => typeof navigator.canShare === "function" && navigator.canShare({ files: [sharedFile("", "answer.txt")] });

/** Hands an answer to another app. Turning away from that is no failure. */
export async function shareAnswer(text: string, at: number): Promise<void> {
  try {
    await navigator.share({ files: [sharedFile(text, fileName(text, at, "txt"))] });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
  }
}

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;

/** How the page can show a file. `save`: it cannot. */
export type FileKind = "text" | "picture" | "audio" | "video" | "save";

/** The text of a file, or of its beginning; undefined when it is none. */
export function textOfBytes(data: Uint8Array): string | undefined {
  try {
    // The end may be in the middle of a character.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(data, { stream: true });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

export function kindOf(mimeType: string, beginning: Uint8Array): FileKind {
  if (PICTURE.test(mimeType)) return "picture";
  if (mimeType.startsWith("audio/")) return "audio";
  if (mimeType.startsWith("video/")) return "video";
  return mimeType !== "application/pdf" && textOfBytes(beginning) !== undefined ? "text" : "save";
}

/** What people call the type of a file: `PDF`, `CSV`. */
export function typeName(name: string, mimeType: string): string {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1];
  return (ending ?? mimeType.split("/").at(-1)?.split(/[+;]/)[0] ?? "").toUpperCase();
}

export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

const PREVIEW_LINES = 3;

/** The first lines with something in them. */
export const firstLines = (text: string): string =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .slice(0, PREVIEW_LINES)
    .join("\n")
    .slice(0, 400);

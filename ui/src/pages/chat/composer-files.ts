import { bytes } from "../../base/figures.ts";
import type { Attachment } from "./model/conversation.ts";
import { tooMuch } from "./model/message-size.ts";

/** A file that goes with the message. Short text goes as part of it, so that the model sees it at once; other files are kept beside the workspace. */
export type AttachedFile =
  | { readonly kind: "file"; readonly name: string; readonly bytes: number; readonly mimeType: string; readonly data: string }
  | { readonly kind: "image"; readonly name: string; readonly bytes: number; readonly mimeType: string; readonly data: string }
  | { readonly kind: "text"; readonly name: string; readonly bytes: number; readonly text: string };

export const MAX_FILES = 8;
/** Bytes of one picture or other file that the gateway takes. */
const MAX_BYTES = 5_000_000;
/** Bytes of a text that is put into the message: more would fill the model's memory. */
const MAX_TEXT = 200_000;
/** Larger pictures are made smaller: models see no more than this. */
const MAX_EDGE = 1568;
/** Pictures up to this size go as they are. */
const SMALL = 700_000;
const AS_THEY_ARE = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

async function base64(blob: Blob): Promise<string> {
  const data = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000) text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
}

/** A size with the same proportions that fits. */
export function fitted(width: number, height: number, edge = MAX_EDGE): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, edge / Math.max(width, height, 1));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

async function smaller(file: Blob): Promise<Blob> {
  const picture = await createImageBitmap(file);
  try {
    const size = fitted(picture.width, picture.height);
    const canvas = Object.assign(document.createElement("canvas"), size);
    canvas.getContext("2d")?.drawImage(picture, 0, 0, size.width, size.height);
    const drawn = (type: string, quality?: number) => new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, quality));
    const exact = file.type === "image/png" ? await drawn("image/png") : null;
    if (exact && exact.size <= SMALL) return exact;
    const blob = await drawn("image/jpeg", 0.86);
    if (!blob) throw new Error("the browser could not draw it");
    return blob;
  } finally {
    picture.close();
  }
}

async function image(file: File): Promise<AttachedFile | string> {
  let blob: Blob = file;
  try {
    const asItIs = AS_THEY_ARE.has(file.type) && (file.size <= SMALL || (file.type === "image/gif" && file.size <= MAX_BYTES));
    if (!asItIs) blob = await smaller(file);
  } catch {
    return `${file.name} could not be read as a picture.`;
  }
  if (blob.size > MAX_BYTES) return tooLarge(file.name, blob.size);
  return { kind: "image", name: file.name, bytes: blob.size, mimeType: blob.type, data: await base64(blob) };
}

const tooLarge = (name: string, size: number): string =>
  `${name} is ${bytes(size)}; a file may have ${bytes(MAX_BYTES)}. Put it into the workspace and name its path.`;

/** What a file says, when it is text that fits into a message. */
async function shortText(file: File): Promise<string | undefined> {
  if (file.size > MAX_TEXT) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

async function otherFile(file: File): Promise<AttachedFile | string> {
  if (file.size > MAX_BYTES) return tooLarge(file.name, file.size);
  const text = await shortText(file);
  if (text !== undefined) return { kind: "text", name: file.name, bytes: file.size, text };
  return { kind: "file", name: file.name, bytes: file.size, mimeType: file.type || "application/octet-stream", data: await base64(file) };
}

/** Takes files as far as they can be sent. `refused` says in words what cannot, and why. */
export async function takeFiles(
  files: readonly File[],
  have: number,
): Promise<{ readonly taken: readonly AttachedFile[]; readonly refused: readonly string[] }> {
  const left = Math.max(0, MAX_FILES - have);
  const read = await Promise.all(
    files.slice(0, left).map((file) => (file.type.startsWith("image/") && file.type !== "image/svg+xml" ? image(file) : otherFile(file))),
  );
  const refused = read.filter((one) => typeof one === "string");
  if (files.length > left) refused.push(`A message takes ${MAX_FILES} files; ${files.length - left} were left out.`);
  return { taken: read.filter((one) => typeof one !== "string"), refused };
}

/** Letters that a file takes where it is kept. */
export const fileSize = (file: AttachedFile): number => (file.kind === "text" ? file.text : file.data).length;

function isKept(value: unknown): value is AttachedFile {
  const file = (value ?? {}) as Partial<Record<"kind" | "name" | "mimeType" | "data" | "text" | "bytes", unknown>>;
  if (typeof file.name !== "string" || typeof file.bytes !== "number") return false;
  if (file.kind === "text") return typeof file.text === "string";
  return (file.kind === "file" || file.kind === "image") && typeof file.mimeType === "string" && typeof file.data === "string";
}

/** Files as they were kept, maybe by another version of the page: what is none is left out. */
export const keptFiles = (value: unknown): readonly AttachedFile[] => (Array.isArray(value) ? value.filter(isKept).slice(0, MAX_FILES) : []);

/** Files of a message that was sent, to go with another one. */
export const filesOf = (attachments: readonly Attachment[]): readonly AttachedFile[] =>
  attachments.map(({ type, mimeType, fileName, content }) => ({
    kind: type,
    name: fileName,
    bytes: Math.floor((content.length * 3) / 4),
    mimeType,
    data: content,
  }));

/** A fence that nothing in the text closes. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}

/** What is sent: the text with text files behind it, and the other files. */
export function messageWith(text: string, files: readonly AttachedFile[]): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const quoted = files.flatMap((file) => {
    if (file.kind !== "text") return [];
    const marks = fence(file.text);
    return [`${file.name}:\n${marks}\n${file.text.replace(/\n$/, "")}\n${marks}`];
  });
  const attachments = files.flatMap((file) =>
    file.kind === "text" ? [] : [{ type: file.kind, mimeType: file.mimeType, fileName: file.name, content: file.data }],
  );
  return { text: [text.trim(), ...quoted].filter((part) => part !== "").join("\n\n"), attachments };
}

/** Files beside what is written and attached already, as far as the gateway takes it all together. `refused` says in words what it does not. */
export function fittingFiles(
  coming: readonly AttachedFile[],
  { text, files, limit }: { readonly text: string; readonly files: readonly AttachedFile[]; readonly limit: number | undefined },
): { readonly taken: readonly AttachedFile[]; readonly refused: readonly string[] } {
  const taken: AttachedFile[] = [];
  const refused: string[] = [];
  for (const file of coming) {
    const much = tooMuch(messageWith(text, [...files, ...taken, file]), limit, "With it the message");
    if (much === undefined) taken.push(file);
    else refused.push(`${file.name} was left out. ${much}`);
  }
  return { taken, refused };
}

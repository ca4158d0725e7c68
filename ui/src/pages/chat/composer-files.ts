import { bytes } from "../../base/figures.ts";
import type { Attachment } from "./model/conversation.ts";
import { tooMuch } from "./model/message-size.ts";
import { t } from "../../words/words.ts";

/** A file that goes with the message. The gateway reads it, and marks what it says as text of others. */
export interface AttachedFile {
  readonly kind: "file" | "image";
  readonly name: string;
  readonly bytes: number;
  readonly mimeType: string;
  readonly data: string;
}

export const MAX_FILES = 8;
/** Bytes of one picture or other file that the gateway takes. */
const MAX_BYTES = 5_000_000;
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
    return t`${file.name} could not be read as a picture.`;
  }
  if (blob.size > MAX_BYTES) return tooLarge(file.name, blob.size);
  return { kind: "image", name: file.name, bytes: blob.size, mimeType: blob.type, data: await base64(blob) };
}

const tooLarge = (name: string, size: number): string =>
  t`${name} is ${bytes(size)}; the limit is ${bytes(MAX_BYTES)} per file. Put it in the workspace and mention its path instead.`;

/** Browsers take TypeScript for a film. The gateway goes by the content then. */
const isTypeKnown = (type: string): boolean => type !== "" && type !== "video/mp2t";

async function otherFile(file: File): Promise<AttachedFile | string> {
  if (file.size > MAX_BYTES) return tooLarge(file.name, file.size);
  if (file.size === 0) return t`${file.name} is empty.`;
  return {
    kind: "file",
    name: file.name,
    bytes: file.size,
    mimeType: isTypeKnown(file.type) ? file.type : "application/octet-stream",
    data: await base64(file),
  };
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
  if (files.length > left) refused.push(t`A message can have up to ${MAX_FILES} files; ${files.length - left} were not attached.`);
  return { taken: read.filter((one) => typeof one !== "string"), refused };
}

/** A name for a text that was pasted, other than those of the files that are there. */
function pastedName(files: readonly AttachedFile[]): string {
  const taken = new Set(files.map(({ name }) => name));
  for (let at = 1; ; at += 1) {
    const name = at === 1 ? "pasted-text.txt" : `pasted-text-${at}.txt`;
    if (!taken.has(name)) return name;
  }
}

/** A text that was pasted, as a file. */
export const pastedFile = (text: string, files: readonly AttachedFile[]): File => new File([text], pastedName(files), { type: "text/plain" });

/** Letters that files take where they are kept. */
export const sizeOfFiles = (files: readonly AttachedFile[]): number => files.reduce((sum, { data }) => sum + data.length, 0);

function isKept(value: unknown): value is AttachedFile {
  const file = (value ?? {}) as Partial<Record<"kind" | "name" | "mimeType" | "data" | "bytes", unknown>>;
  if (typeof file.name !== "string" || typeof file.bytes !== "number") return false;
  return (file.kind === "file" || file.kind === "image") && typeof file.mimeType === "string" && typeof file.data === "string";
}

/** Files as they were kept, maybe by another version of the page: what is none is left out. */
export const keptFiles = (value: unknown): readonly AttachedFile[] => (Array.isArray(value) ? value.filter(isKept).slice(0, MAX_FILES) : []);

/** A file of a message that was taken back, to be sent again. */
export const attachedOf = ({ type, mimeType, fileName, content }: Attachment): AttachedFile => ({
  kind: type,
  name: fileName,
  bytes: Math.floor((content.length / 4) * 3) - (/=*$/.exec(content)?.[0].length ?? 0),
  mimeType,
  data: content,
});

/** What is sent: the text and the files. */
export function messageWith(text: string, files: readonly AttachedFile[]): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const attachments = files.map(({ kind, mimeType, name, data }) => ({ type: kind, mimeType, fileName: name, content: data }));
  return { text: text.trim(), attachments };
}

/** Files beside what is written and attached already, as far as the gateway takes it all together. `refused` says in words what it does not. */
export function fittingFiles(
  coming: readonly AttachedFile[],
  { text, files, limit }: { readonly text: string; readonly files: readonly AttachedFile[]; readonly limit: number | undefined },
): { readonly taken: readonly AttachedFile[]; readonly refused: readonly string[] } {
  const taken: AttachedFile[] = [];
  const refused: string[] = [];
  for (const file of coming) {
    const much = tooMuch(messageWith(text, [...files, ...taken, file]), limit, t("With this file, the message"));
    if (much === undefined) taken.push(file);
    else refused.push(t`${file.name} was not attached. ${much}`);
  }
  return { taken, refused };
}

import { bytes } from "../../base/figures.ts";
import type { Attachment } from "./model/conversation.ts";

/** A file that goes with the message. Text goes as part of it: the gateway takes pictures only. */
export type AttachedFile =
  | { readonly kind: "image"; readonly name: string; readonly bytes: number; readonly mimeType: string; readonly data: string }
  | { readonly kind: "text"; readonly name: string; readonly bytes: number; readonly text: string };

export const MAX_FILES = 8;
/** Bytes of one picture that the gateway takes. */
const MAX_IMAGE = 5_000_000;
/** Bytes of a text file: more would fill the model's memory. */
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
    const asItIs = AS_THEY_ARE.has(file.type) && (file.size <= SMALL || (file.type === "image/gif" && file.size <= MAX_IMAGE));
    if (!asItIs) blob = await smaller(file);
  } catch {
    return `${file.name} could not be read as a picture.`;
  }
  if (blob.size > MAX_IMAGE) return `${file.name} is ${bytes(blob.size)}; pictures may have ${bytes(MAX_IMAGE)}.`;
  return { kind: "image", name: file.name, bytes: blob.size, mimeType: blob.type, data: await base64(blob) };
}

async function textFile(file: File): Promise<AttachedFile | string> {
  const refused = `${file.name} is neither a picture nor text. Put it into the workspace and name its path.`;
  if (file.size > MAX_TEXT) {
    const isText = /^text\/|json|xml|yaml|javascript/.test(file.type);
    return isText ? `${file.name} is ${bytes(file.size)}; text may have ${bytes(MAX_TEXT)}. Put it into the workspace and name its path.` : refused;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? refused : { kind: "text", name: file.name, bytes: file.size, text };
  } catch {
    return refused;
  }
}

/** Takes files as far as they can be sent. `refused` says in words what cannot, and why. */
export async function takeFiles(
  files: readonly File[],
  have: number,
): Promise<{ readonly taken: readonly AttachedFile[]; readonly refused: readonly string[] }> {
  const room = Math.max(0, MAX_FILES - have);
  const read = await Promise.all(
    files.slice(0, room).map((file) => (file.type.startsWith("image/") && file.type !== "image/svg+xml" ? image(file) : textFile(file))),
  );
  const refused = read.filter((one) => typeof one === "string");
  if (files.length > room) refused.push(`A message takes ${MAX_FILES} files; ${files.length - room} were left out.`);
  return { taken: read.filter((one) => typeof one !== "string"), refused };
}

/** A fence that nothing in the text closes. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}

/** What is sent: the text with text files behind it, and the pictures. */
export function messageWith(text: string, files: readonly AttachedFile[]): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const quoted = files.flatMap((file) => {
    if (file.kind !== "text") return [];
    const marks = fence(file.text);
    return [`${file.name}:\n${marks}\n${file.text.replace(/\n$/, "")}\n${marks}`];
  });
  const attachments = files.flatMap((file) =>
    file.kind === "image" ? [{ type: "image" as const, mimeType: file.mimeType, fileName: file.name, content: file.data }] : [],
  );
  return { text: [text.trim(), ...quoted].filter((part) => part !== "").join("\n\n"), attachments };
}

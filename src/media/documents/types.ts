/** Limits of one document. */
export interface DocumentLimits {
  /** Characters of text. */
  readonly maxChars: number;
  /** Pages of a PDF. */
  readonly maxPages: number;
  /** A PDF with less text than this is taken for a scan: its pictures are extracted. 0: never. */
  readonly minTextChars?: number;
  /** Pixels of one such picture. */
  readonly maxPixels?: number;
  readonly timeoutMs?: number;
}

export interface DocumentFile {
  readonly data: Uint8Array;
  readonly mimeType: string;
  readonly fileName?: string | undefined;
}

/** What a document says. */
export interface DocumentText {
  readonly text: string;
  /** The text was longer, or there were more pages. */
  readonly truncated: boolean;
  readonly title?: string;
  /** Pages that the document has, and how many of them were read. */
  readonly pages?: number;
  readonly pagesRead?: number;
  /** JPEG pictures of pages without text. */
  readonly pictures?: readonly Uint8Array[];
}

/** Uncompressed pixels. */
export interface RawPicture {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
}

/** What the thread is asked. */
export interface ThreadRequest {
  readonly kind: "pdf" | "office";
  readonly data: Uint8Array;
  readonly limits: DocumentLimits;
}

/** `problem` is a reason for the user: the document's fault, not ours. */
export type ThreadAnswer =
  | { readonly text: Omit<DocumentText, "pictures">; readonly pictures: readonly RawPicture[] }
  | { readonly problem: string }
  | { readonly error: string };

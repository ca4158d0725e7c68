import type { ImageContent, SessionEntry } from "../protocol/index.ts";

/** A file of a message. */
export interface ReceivedFile {
  /** Where it is stored; images of clients have no path. */
  readonly path?: string;
  readonly mimeType: string;
  readonly image?: ImageContent;
}

/** A message whose files and links a model may not be able to see. */
export interface UnderstandingRequest {
  readonly runId: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly channel: string;
  readonly entry?: SessionEntry | undefined;
  /** The model that was asked for with the message. */
  readonly model?: string | undefined;
  /** What people wrote, without anything that was added to it. */
  readonly text: string;
  /** Fields of the message that arguments of programs may name: `{{From}}`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly ReceivedFile[];
}

export type Capability = "image" | "video" | "document" | "link";

/** What was decided about a kind of file in a message. */
export interface Decision {
  readonly capability: Capability;
  readonly outcome: "ok" | "skipped" | "failed";
  /** Who did it: `provider/model`, a program, or the reader of documents. */
  readonly by?: string;
  readonly reason?: string;
}

/** What is known about one file. */
export interface UnderstoodFile {
  /** For the prompt, below the line that names the file. */
  readonly lines: readonly string[];
  /** The image is described: the model does not need it. */
  readonly isDescribed?: boolean;
  /** Pages of a scanned document, for models that see. */
  readonly pictures?: readonly ImageContent[];
}

export interface Understood {
  /** In the order of the files. */
  readonly files: readonly UnderstoodFile[];
  /** Blocks about links, for the prompt. */
  readonly links: readonly string[];
}

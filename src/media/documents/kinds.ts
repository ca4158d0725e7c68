import { normalizeMimeType, sniffMediaType } from "../mime.ts";

const OFFICE: ReadonlySet<string> = new Set([
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.oasis.opendocument.text",
  "application/vnd.oasis.opendocument.spreadsheet",
  "application/vnd.oasis.opendocument.presentation",
]);
const OLD_OFFICE: ReadonlySet<string> = new Set(["application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"]);
/** Texts whose type does not begin with `text/`. */
const TEXTS = /^application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|sql|x-sh|x-ndjson|[\w.-]+\+(?:json|xml))$/;

/** How a document is read; undefined when it is none. Its content decides: a name alone makes no PDF. */
export function documentKind(mimeType: string, data?: Uint8Array): "pdf" | "office" | "text" | "old-office" | undefined {
  const type = normalizeMimeType(mimeType) ?? "";
  const content = data && sniffMediaType(data);
  if (type === "application/pdf" || content === "application/pdf") return content === undefined || content === "application/pdf" ? "pdf" : undefined;
  if (OFFICE.has(type)) return content === undefined || content === "application/zip" ? "office" : undefined;
  if (OLD_OFFICE.has(type)) return content === "application/zip" ? "office" : "old-office";
  return content === undefined && (type.startsWith("text/") || TEXTS.test(type)) ? "text" : undefined;
}

import { isRecord } from "../../../base/records.ts";
import { optional } from "./fields.ts";
import { invalid, unsupported } from "./refusal.ts";

/** A file of a request: what it holds itself, or where it is. `at` is its place in the body. */
export type FileSource =
  | { readonly at: string; readonly name?: string | undefined; readonly data: string; readonly mimeType?: string | undefined }
  | { readonly at: string; readonly name?: string | undefined; readonly url: string };

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;
const SOURCE_KEYS: readonly string[] = ["type", "url", "data", "media_type", "filename"];

/** A `data:` URL, or base64 alone. */
function dataSource(data: string, at: string, facts: { readonly name: string | undefined; readonly mimeType?: string | undefined }): FileSource {
  const head = DATA_URL.exec(data.slice(0, 200));
  return { at, data: data.slice(head?.[0].length ?? 0), name: facts.name, mimeType: head?.[1] || facts.mimeType };
}

function urlSource(url: string, at: string, name: string | undefined): FileSource {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw invalid(`${at}: the URL of a file must begin with http:// or https://`, at);
  return { at, url, name: name ?? (new URL(url).pathname.split("/").at(-1) || undefined) };
}

/** Reads a part of type `input_file`: its data or its address, alone or below `source`. */
export function fileAt(part: Readonly<Record<string, unknown>>, at: string): FileSource {
  const name = optional(part, "filename", "string");
  const data = optional(part, "file_data", "string");
  const url = optional(part, "file_url", "string");
  const { source } = part;
  if (data !== undefined) return dataSource(data, at, { name });
  if (url !== undefined) return urlSource(url, at, name);
  if (part["file_id"] !== undefined) throw unsupported("files by id", at);
  if (!isRecord(source)) throw invalid(`${at} must have file_data, file_url or a source`, at);
  const unknown = Object.keys(source).find((key) => !SOURCE_KEYS.includes(key));
  if (unknown !== undefined) throw invalid(`${at}.source: unexpected property '${unknown.slice(0, 80)}'`, at);
  const named = optional(source, "filename", "string") ?? name;
  const [held, address] = [optional(source, "data", "string"), optional(source, "url", "string")];
  if (source["type"] === "base64" && held !== undefined) return dataSource(held, at, { name: named, mimeType: optional(source, "media_type", "string") });
  if (source["type"] === "url" && address !== undefined) return urlSource(address, at, named);
  throw invalid(`${at}.source must be of type url or base64, with a url or data`, at);
}

import { badRequest } from "./objects.ts";

/** A file that came in a multipart body. */
export interface Upload {
  readonly name: string;
  readonly type: string;
  readonly data: Buffer;
}

/** Parameters of a call, whichever way they came: everything may be a text that has to be read as what it should be. */
export interface Params {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly uploads: ReadonlyMap<string, Upload>;
  text(name: string): string | undefined;
  integer(name: string): number | undefined;
  flag(name: string): boolean;
  /** An object or a list, as JSON where the body is a form. */
  json(name: string): unknown;
}

export async function readParams(query: URLSearchParams, contentType: string, body: Buffer): Promise<Params> {
  const raw: Record<string, unknown> = Object.fromEntries(query);
  const uploads = new Map<string, Upload>();
  if (body.length > 0) Object.assign(raw, await readBody(contentType, body, uploads));
  const scalar = (name: string): string | undefined => {
    const value = raw[name];
    if (value === undefined || value === null) return undefined;
    return typeof value === "object" ? JSON.stringify(value) : `${value as string | number | boolean}`;
  };
  return {
    raw,
    uploads,
    text: scalar,
    integer(name) {
      const value = scalar(name);
      if (value === undefined || value === "") return undefined;
      if (!/^-?\d+$/.test(value)) throw badRequest(`invalid ${name} specified`);
      return Number(value);
    },
    flag: (name) => ["true", "1", "True", "yes"].includes(scalar(name) ?? ""),
    json(name) {
      const value = raw[name];
      if (value === undefined || value === null || value === "") return undefined;
      if (typeof value !== "string") return value;
      try {
        return JSON.parse(value) as unknown;
      } catch {
        throw badRequest(`can't parse ${name} JSON object`);
      }
    },
  };
}

async function readBody(contentType: string, body: Buffer, uploads: Map<string, Upload>): Promise<Record<string, unknown>> {
  if (contentType.startsWith("application/json")) {
    try {
      return JSON.parse(body.toString("utf8")) as Record<string, unknown>;
    } catch {
      throw badRequest("can't parse request: invalid JSON");
    }
  }
  if (contentType.startsWith("application/x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
  if (!contentType.startsWith("multipart/form-data")) return {};
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData().catch(() => {
    throw badRequest("can't parse multipart body");
  });
  const values: Record<string, unknown> = {};
  for (const [name, value] of form) {
    if (typeof value === "string") values[name] = value;
    else uploads.set(name, { name: value.name, type: value.type, data: Buffer.from(await value.arrayBuffer()) });
  }
  return values;
}

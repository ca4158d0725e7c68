/** An error in the form of JSON-RPC. */
export class Refused extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown = null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type Params = Readonly<Record<string, unknown>>;

export const paramsOf = (value: unknown): Params => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Params) : {});

/** A parameter by any of its spellings: `text-style`, `textStyle`, `textStyles`. */
export function param(params: Params, name: string): unknown {
  const camel = name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return params[name] ?? params[camel] ?? params[`${camel}s`];
}

export function listParam(params: Params, name: string): readonly string[] {
  const value = param(params, name);
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

export function textParam(params: Params, name: string): string | undefined {
  const value = param(params, name);
  return typeof value === "string" ? value : undefined;
}

export function numberParam(params: Params, name: string): number | undefined {
  const value = param(params, name);
  return typeof value === "number" ? value : undefined;
}

/** `data:<type>;filename=<name>;base64,<data>`. */
export function fileIn(uri: string): { readonly name: string; readonly mime: string; readonly data: Buffer } {
  const [, mime = "", name = "", data = ""] = /^data:([^;,]*)(?:;filename=([^;,]*))?;base64,(.*)$/s.exec(uri) ?? [];
  if (data === "" && !uri.endsWith("base64,")) throw new Refused(-1, `Failed to add attachment: ${uri.slice(0, 40)}`);
  return { mime, name: decodeURIComponent(name), data: Buffer.from(data, "base64") };
}

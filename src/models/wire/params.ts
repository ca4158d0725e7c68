import type { WireRequest } from "./format.ts";

/** What a model's `params` mean in one wire format. */
export interface ParamFields {
  /** Names of the format's own fields, by the name of the parameter. */
  readonly fields: Readonly<Record<string, string>>;
  /** The format's word for faster and dearer service. */
  readonly fastTier?: string;
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Parameters may be written as here (`topP`) or as providers do (`top_p`). */
export function paramOf({ params }: Pick<WireRequest, "params">, name: string): unknown {
  if (!params) return undefined;
  const own = params[name];
  if (own !== undefined) return own;
  const other = Object.keys(params).find((key) => camelCase(key) === name);
  return other === undefined ? undefined : params[other];
}

/** The fields that the model's parameters ask for. `fastMode` is a service tier unless `serviceTier` names one. */
export function paramFields(request: WireRequest, { fields, fastTier }: ParamFields): Record<string, unknown> {
  if (!request.params) return {};
  const found = Object.entries(fields).flatMap(([name, field]) => {
    const value = paramOf(request, name) ?? (name === "serviceTier" && paramOf(request, "fastMode") === true ? fastTier : undefined);
    return value === undefined ? [] : [[field, value]];
  });
  return Object.fromEntries(found) as Record<string, unknown>;
}

/** `params.extraBody`: fields of the provider's own, which go into the body as they are and win over ours. */
export function extraBody(request: WireRequest): Record<string, unknown> {
  const given = paramOf(request, "extraBody");
  return typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : {};
}

type Retention = NonNullable<WireRequest["cacheRetention"]>;

/** The older parameter and its values. */
const OLD_RETENTION: Readonly<Record<string, Retention>> = { "5m": "short", "1h": "long" };

/** How long the model's parameters want a prompt to be kept. */
export function askedRetention(request: Pick<WireRequest, "params">): Retention | undefined {
  const asked = paramOf(request, "cacheRetention") ?? OLD_RETENTION[String(paramOf(request, "cacheControlTtl"))];
  return asked === "none" || asked === "short" || asked === "long" ? asked : undefined;
}

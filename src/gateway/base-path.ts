import { AppError } from "../base/errors.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { canonicalTarget } from "./http/canonical-path.ts";

/** First words of paths that programs ask for, in any case and with anything behind them: missing ones get a 404, never a page. */
const OF_PROGRAMS = /^\/(?:v1|tools|hooks|api|slack|telegram-webhook|health|healthz|readyz|__openclaw__|\.well-known)(?![\w-])/i;

/** The path below which the Control UI is, without a slash at its end; undefined when it cannot be one. */
function read(config: OpenClawConfig): string | undefined {
  const path = `/${(config.gateway?.controlUi?.basePath ?? "/").trim().replace(/^\/+|\/+$/g, "")}`;
  if (!path.isWellFormed() || OF_PROGRAMS.test(path)) return undefined;
  const target = canonicalTarget(encodeURI(path));
  return target.ok && target.path === path ? path : undefined;
}

/** Where the Control UI is served: `/` or a path without a slash at its end. Undefined when it is turned off, or when its path cannot be used. */
export function basePathOf(config: OpenClawConfig): string | undefined {
  return config.gateway?.controlUi?.enabled === false ? undefined : read(config);
}

/** Refuses a configuration under which the Control UI could not be served. */
export function checkBasePath(config: OpenClawConfig): void {
  if (config.gateway?.controlUi?.enabled === false || read(config) !== undefined) return;
  const written = JSON.stringify(config.gateway?.controlUi?.basePath);
  throw new AppError(
    "CONFIG_INVALID",
    `gateway.controlUi.basePath: ${written} is not a valid path: use one such as "/claw", without dot segments, query or fragment`,
  );
}

/** The path of something below the base. */
export const below = (base: string, rest: string): string => `${base === "/" ? "" : base}/${rest}`;

/** What is asked for below the base, without a slash in front; undefined when the path lies outside, or belongs to programs. */
export function restOf(base: string, path: string): string | undefined {
  const root = below(base, "");
  if (path === base) return "";
  return path.startsWith(root) && !OF_PROGRAMS.test(path) ? path.slice(root.length) : undefined;
}

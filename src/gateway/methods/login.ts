import { AppError } from "../../base/errors.ts";
import type { Config } from "../../config/index.ts";
import type { MethodResult } from "../../protocol/index.ts";
import type { Auth } from "../auth/index.ts";
import { basePathOf, below } from "../base-path.ts";
import type { HandlersOf } from "./handler.ts";

export interface LoginDeps {
  readonly auth: Pick<Auth, "login">;
  readonly config: Pick<Config, "current">;
}

/** Lets one browser in, once; `path` is to be appended to the page's origin. */
export type LoginLink = MethodResult<"login.code">;

/** Undefined when there is no page to log in to. */
export function createLoginLink({ auth, config }: LoginDeps, by?: { readonly deviceId?: string | undefined }): LoginLink | undefined {
  const base = basePathOf(config.current);
  if (base === undefined) return undefined;
  const { code, expiresAt } = auth.login.code(by);
  return { code, path: `${encodeURI(below(base, ""))}#code=${code}`, expiresAt };
}

/** Handler of `login.code`. */
export function loginHandlers(deps: LoginDeps): HandlersOf<"login"> {
  return {
    "login.code"(_params, { caller }) {
      const link = createLoginLink(deps, caller);
      if (!link)
        throw new AppError(
          "UNAVAILABLE",
          "the Control UI is not available: gateway.controlUi.enabled is off, or gateway.controlUi.basePath is not a valid path",
        );
      return link;
    },
  };
}

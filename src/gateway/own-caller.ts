import { AppError } from "../base/errors.ts";
import type { Handlers } from "./methods/handler.ts";
import type { MethodName, MethodParams, MethodResult } from "../protocol/index.ts";

/** Calls the gateway's methods from inside, with all rights: whoever uses it has made sure that it may. */
export type OwnCaller = <M extends MethodName>(method: M, params: MethodParams<M>, signal?: AbortSignal) => Promise<MethodResult<M>>;

export function ownCaller(handlers: () => Handlers | undefined, name: string): OwnCaller {
  const caller = {
    connId: name,
    role: "operator",
    scopes: new Set(["operator.admin"]),
    client: { id: name, mode: "backend", version: "", platform: process.platform },
    caps: new Set<string>(),
    local: true,
  } as const;
  return async (method, params, signal = new AbortController().signal) => {
    const handler = handlers()?.[method] as ((params: object, context: object) => unknown) | undefined;
    if (!handler) throw new AppError("UNAVAILABLE", `the gateway does not answer ${method} yet`);
    return handler(params, { caller, signal, accepted: () => {} }) as Promise<MethodResult<typeof method>>;
  };
}

import { AppError } from "../../base/errors.ts";
import { METHODS, type MethodName, type MethodParams, type MethodResult, type Role } from "../../protocol/index.ts";

/** Who calls: what the handshake established. */
export interface Caller {
  readonly connId: string;
  readonly role: Role;
  /** Granted, not asked for. */
  readonly scopes: ReadonlySet<string>;
  readonly client: {
    readonly id: string;
    readonly mode: string;
    readonly version: string;
    readonly platform: string;
    readonly displayName?: string;
    readonly instanceId?: string;
  };
  readonly caps: ReadonlySet<string>;
  readonly deviceId?: string;
  readonly remoteIp?: string;
  /** Connected from this machine, by the documented rules. */
  readonly local: boolean;
  /** A part of the gateway itself, not a connection. */
  readonly isOwn?: true;
}

export interface CallContext {
  readonly caller: Caller;
  /** Fires when the caller's connection is gone or the gateway stops. */
  readonly signal: AbortSignal;
  /** Sends an answer ahead of the final one (`status: "accepted"`). */
  readonly accepted: (payload: unknown) => void;
}

export type Handler<M extends MethodName> = (params: MethodParams<M>, context: CallContext) => MethodResult<M> | Promise<MethodResult<M>>;

/** Handlers by method name. What is missing or undefined is answered with `UNAVAILABLE` and not advertised. */
export type Handlers = { readonly [M in MethodName]?: Handler<M> | undefined };

/** Handlers of every method of the protocol: one that is forgotten does not compile. */
export type AllHandlers = { readonly [M in MethodName]: Handler<M> | undefined };

/** Methods by their names, or by what stands before a dot in them. */
type MethodsOf<Area extends string> = Extract<MethodName, Area | `${Area}.${string}`>;

/** Handlers of every method of some areas: `HandlersOf<"tools">` has `tools.catalog` and all the others. */
export type HandlersOf<Area extends string> = Pick<AllHandlers, MethodsOf<Area>>;

/** Written where nothing answers: `unavailable("cron", "talk.mode")`. */
export function unavailable<Area extends string>(...areas: readonly Area[]): { readonly [M in MethodsOf<Area>]: undefined } {
  const isMeant = (name: string): boolean => areas.some((area) => name === area || name.startsWith(`${area}.`));
  const names = Object.keys(METHODS).filter(isMeant);
  return Object.fromEntries(names.map((name) => [name, undefined])) as { readonly [M in MethodsOf<Area>]: undefined };
}

/** Calls the gateway's methods from inside, with all rights: its user has made sure that the caller may. */
export type OwnCaller = <M extends MethodName>(method: M, params: MethodParams<M>, signal?: AbortSignal) => Promise<MethodResult<M>>;

/** The name of commands as callers: what they announce themselves is not announced again. */
export const COMMAND_CALLER = "command";

export function ownCaller(handlers: () => Handlers | undefined, name: string): OwnCaller {
  const caller = {
    connId: name,
    role: "operator",
    scopes: new Set(["operator.admin"]),
    client: { id: name, mode: "backend", version: "", platform: process.platform },
    caps: new Set<string>(),
    local: true,
    isOwn: true,
  } as const;
  return async (method, params, signal = new AbortController().signal) => {
    const handler = handlers()?.[method] as ((params: object, context: object) => unknown) | undefined;
    if (!handler) throw new AppError("UNAVAILABLE", `the gateway does not support ${method} yet`);
    return handler(params, { caller, signal, accepted: () => {} }) as Promise<MethodResult<typeof method>>;
  };
}

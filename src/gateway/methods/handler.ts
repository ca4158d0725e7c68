import type { MethodName, MethodParams, MethodResult, Role } from "../../protocol/index.ts";

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
}

export interface CallContext {
  readonly caller: Caller;
  /** Fires when the caller's connection is gone or the gateway stops. */
  readonly signal: AbortSignal;
  /** Sends an answer ahead of the final one (`status: "accepted"`). */
  readonly accepted: (payload: unknown) => void;
}

export type Handler<M extends MethodName> = (params: MethodParams<M>, context: CallContext) => MethodResult<M> | Promise<MethodResult<M>>;

/** Handlers by method name. What is missing is answered with `UNAVAILABLE`. */
export type Handlers = { readonly [M in MethodName]?: Handler<M> };

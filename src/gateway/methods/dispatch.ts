import { clip } from "../../base/text.ts";
import { AppError } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { covers, METHODS, type MethodName, type Scope, type Validators } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { CallContext, Caller, Handlers } from "./handler.ts";
import { createIdempotency } from "./idempotency.ts";
import { failureOf, invalidRequest, type Answer } from "./protocol-error.ts";

/** Carries requests to their handlers: scope, then schema, then idempotency, then the handler. */
export interface Dispatcher {
  /** Never rejects. */
  call(method: string, params: unknown, context: CallContext): Promise<Answer>;
  /** What `hello-ok` names: documented methods that have a handler. */
  readonly advertised: readonly string[];
}

/** Methods that are not part of the protocol: plugins bring them. */
export interface ExtraMethods {
  /** Their names, as `hello-ok` lists them. */
  names(): readonly string[];
  /** `call` never rejects. */
  find(method: string): { readonly access: Scope; call(params: unknown, context: CallContext): Promise<Answer> } | undefined;
}

export interface DispatcherDeps {
  readonly handlers: Handlers;
  readonly extra?: ExtraMethods | undefined;
  readonly store: Store;
  readonly log: Logger;
  /** Loaded with the first request. */
  readonly validators: () => Promise<Pick<Validators, "params">>;
  /** Fires when the gateway stops. */
  readonly stopping: AbortSignal;
  /** Makes the commands in a message run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
}

/** They keep track of their keys themselves: the key names the run, or is passed on. */
const OWN_KEYS: ReadonlySet<string> = new Set(["chat.send", "agent", "node.invoke"]);
/** Their answers hold secrets, which are not written to disk. A repeated call makes a new one. */
const SECRET_ANSWERS: ReadonlySet<string> = new Set(["device.token.rotate", "node.pair.approve", "login.code"]);

type AnyHandler = (params: unknown, context: CallContext) => unknown;

const isMethod = (name: string): name is MethodName => Object.hasOwn(METHODS, name);

/** Why the caller may not use the method, if so. */
function refusal(name: MethodName, { role, scopes }: Caller): string | undefined {
  const { access } = METHODS[name];
  if (access === "node") return role === "node" ? undefined : `unauthorized role: ${role}`;
  if (role !== "operator") return `unauthorized role: ${role}`;
  return covers(scopes, access) ? undefined : `missing scope: ${access}`;
}

export function createDispatcher({ handlers, extra, store, log, validators, stopping, runnable }: DispatcherDeps): Dispatcher {
  const idempotency = createIdempotency(store);
  const advertised = (Object.keys(METHODS) as MethodName[]).filter((name) => METHODS[name].advertised !== false && handlers[name] !== undefined);

  async function handle(method: MethodName, handler: AnyHandler, params: unknown, context: CallContext): Promise<Answer> {
    try {
      return { ok: true, payload: await handler(params, context) };
    } catch (error) {
      if (!(error instanceof AppError)) log.error(`${method} failed`, { error, connId: context.caller.connId });
      return failureOf(error, runnable);
    }
  }

  function keyOf(method: MethodName, params: unknown): string | undefined {
    if (!METHODS[method].effect || OWN_KEYS.has(method) || SECRET_ANSWERS.has(method)) return undefined;
    const key = (params as { readonly idempotencyKey?: unknown } | undefined)?.idempotencyKey;
    return typeof key === "string" ? key : undefined;
  }

  async function dispatch(method: string, params: unknown, context: CallContext): Promise<Answer> {
    if (!isMethod(method)) {
      // What is not declared needs admin, so that nobody else learns which methods there are.
      const { role, scopes } = context.caller;
      if (role !== "operator") return invalidRequest(`unauthorized role: ${role}`);
      const found = extra?.find(method);
      if (found && covers(scopes, found.access)) return found.call(params, context);
      if (found) return invalidRequest(`missing scope: ${found.access}`);
      return invalidRequest(covers(scopes, "operator.admin") ? `unknown method: ${clip(method, 100)}` : "missing scope: operator.admin");
    }
    const refused = refusal(method, context.caller);
    if (refused !== undefined) return invalidRequest(refused);
    const handler = handlers[method] as AnyHandler | undefined;
    if (!handler) throw new AppError("UNAVAILABLE", `${method} is not available: the room "${METHODS[method].room}" is not built yet`);
    const issues = (await validators()).params(method, params);
    if (issues !== undefined && issues.length > 0) return invalidRequest(`invalid ${method} params: ${issues.join("; ")}`);
    const key = keyOf(method, params);
    if (key === undefined) return handle(method, handler, params, context);
    // Work under a key belongs to the key, not to the connection: a caller that comes back asks for the answer.
    const kept: CallContext = { caller: context.caller, accepted: context.accepted, signal: stopping };
    return idempotency.once(method, key, params, () => handle(method, handler, params, kept));
  }

  return {
    get advertised() {
      return extra ? [...advertised, ...extra.names()] : advertised;
    },
    async call(method, params, context) {
      try {
        return await dispatch(method, params ?? {}, context);
      } catch (error) {
        if (!(error instanceof AppError)) log.error(`${method} failed`, { error, connId: context.caller.connId });
        return failureOf(error, runnable);
      }
    },
  };
}

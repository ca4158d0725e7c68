import type { ServerResponse } from "node:http";
import { AppError } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import {
  jobProblems,
  normalizeCronAdd,
  normalizeCronUpdate,
  covers,
  METHODS,
  type MethodFacts,
  type MethodName,
  type Scope,
  type Validators,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { CallContext, Caller, Handlers } from "./handler.ts";
import { createIdempotency } from "./idempotency.ts";
import { failureOf, invalidRequest, type Answer } from "./protocol-error.ts";

/**
 * Carries requests to their handlers: scope, then schema, then idempotency, then the handler. Counts those that are not answered yet. Disposing, after the
 * connections are gone, answers what was left waiting.
 */
export interface Dispatcher extends Disposable {
  /** Never rejects. */
  call(method: string, params: unknown, context: CallContext): Promise<Answer>;
  /** What `hello-ok` names: documented methods that have a handler. */
  readonly advertised: readonly string[];
  /** Counts an HTTP request until its connection is done with it. */
  track(response: ServerResponse): void;
  /** Requests without an answer. */
  readonly running: number;
  readonly closed: boolean;
  /**
   * Accepts nothing from now on. What still comes is not answered: its connection is closed next, and a client that gave its request a key sends it
   * again when it is back, without asking anybody.
   */
  close(): void;
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
  /** Learns of parameters that do not fit their declaration. */
  readonly onMisfit?: ((method: MethodName, params: unknown, context: CallContext, problem: string) => void) | undefined;
  /** Makes the commands in a message run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
}

/** They check their keys themselves: the key names the run, the command or the job, or counts for one node only. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  "chat.send",
  "chat.regenerate",
  "agent",
  "node.invoke",
  "node.invoke.cancel",
  "node.event",
  "backup.create",
  "backup.verify",
  "backup.restore",
]);
/** Their answers hold secrets, which are not written to disk. A repeated call makes a new one. */
const SECRET_ANSWERS: ReadonlySet<string> = new Set(["device.token.rotate", "node.pair.approve", "login.code"]);

/** Parameters that clients write in several forms: they are brought into the declared one before they are checked. */
/** What fits, where the schema's words do not say it. */
const HINTS: Readonly<Record<string, (params: unknown) => readonly string[]>> = {
  "cron.add": (params) => jobProblems(params, true),
  "cron.update": (params) => jobProblems(isRecord(params) ? params["patch"] : undefined, false),
};
const FORMS: Readonly<Record<string, (params: unknown) => unknown>> = { "cron.add": normalizeCronAdd, "cron.update": normalizeCronUpdate };

const STOPPED: Answer = { ok: false, error: { code: "UNAVAILABLE", message: "the gateway is restarting; send it again", retryable: true } };

/** A method of the protocol with its handler. */
interface Route extends Pick<MethodFacts, "access"> {
  readonly name: MethodName;
  readonly handler: ((params: unknown, context: CallContext) => unknown) | undefined;
  /** Its answers are stored under the caller's key. */
  readonly isKeyed: boolean;
}

const isMethod = (name: string): name is MethodName => Object.hasOwn(METHODS, name);

function routesOf(handlers: Handlers): ReadonlyMap<string, Route> {
  const names = Object.keys(METHODS).filter(isMethod);
  return new Map(
    names.map((name) => {
      const { access, effect } = METHODS[name];
      // The check of its parameters makes them what the handler expects.
      const handler = handlers[name] as Route["handler"];
      return [name, { name, access, handler, isKeyed: effect && !OWN_KEYS.has(name) && !SECRET_ANSWERS.has(name) }];
    }),
  );
}

/** Why the caller may not use the method, if so. */
function refusal({ access }: Route, { role, scopes }: Caller): string | undefined {
  if (access === "node") return role === "node" ? undefined : `unauthorized role: ${role}`;
  if (role !== "operator") return `unauthorized role: ${role}`;
  return covers(scopes, access) ? undefined : `missing scope: ${access}`;
}

/** What is not declared needs admin, so that nobody else learns which methods there are. */
async function callExtra(extra: ExtraMethods | undefined, method: string, params: unknown, context: CallContext): Promise<Answer> {
  const { role, scopes } = context.caller;
  if (role !== "operator") return invalidRequest(`unauthorized role: ${role}`);
  const found = extra?.find(method);
  if (found && covers(scopes, found.access)) return found.call(params, context);
  if (found) return invalidRequest(`missing scope: ${found.access}`);
  return invalidRequest(covers(scopes, "operator.admin") ? `unknown method: ${clip(method, 100)}` : "missing scope: operator.admin");
}

export function createDispatcher({ handlers, extra, store, log, validators, stopping, onMisfit, runnable }: DispatcherDeps): Dispatcher {
  const idempotency = createIdempotency(store);
  const routes = routesOf(handlers);
  const advertised = [...routes.values()].flatMap(({ name, handler }) => (handler && METHODS[name].advertised !== false ? [name] : []));
  const over = Promise.withResolvers<Answer>();
  let running = 0;
  let closed = false;

  function failed(method: string, { caller: { connId } }: CallContext, error: unknown): Answer {
    if (!(error instanceof AppError)) log.error(`${method} failed`, { error, connId });
    return failureOf(error, runnable);
  }

  async function dispatch(route: Route, written: unknown, context: CallContext): Promise<Answer> {
    const { name, handler, isKeyed } = route;
    const params = FORMS[name]?.(written) ?? written;
    const refused = refusal(route, context.caller);
    if (refused !== undefined) return invalidRequest(refused);
    if (!handler) throw new AppError("UNAVAILABLE", `${name} is not available in this version`);
    const issues = (await validators()).params(name, params);
    if (issues) {
      const problem = [...issues, ...(HINTS[name]?.(params) ?? [])].join("; ");
      onMisfit?.(name, params, context, problem);
      return invalidRequest(`invalid ${name} params: ${problem}`);
    }
    const key = isKeyed && isRecord(params) ? params["idempotencyKey"] : undefined;
    if (typeof key !== "string") return { ok: true, payload: await handler(params, context) };
    // Work under a key belongs to the key, not to the connection: a caller that comes back asks for the answer.
    const lasting: CallContext = { caller: context.caller, accepted: context.accepted, signal: stopping };
    return idempotency.once(name, key, params, async () => {
      try {
        return { ok: true, payload: await handler(params, lasting) };
      } catch (error) {
        return failed(name, context, error);
      }
    });
  }

  return {
    get advertised() {
      return extra ? [...advertised, ...extra.names()] : advertised;
    },
    async call(method, params, context) {
      if (closed) return over.promise;
      running += 1;
      try {
        const route = routes.get(method);
        return await (route ? dispatch(route, params ?? {}, context) : callExtra(extra, method, params ?? {}, context));
      } catch (error) {
        return failed(method, context, error);
      } finally {
        running -= 1;
      }
    },
    track(response) {
      running += 1;
      response.once("close", () => (running -= 1));
    },
    get running() {
      return running;
    },
    get closed() {
      return closed;
    },
    close() {
      closed = true;
    },
    [Symbol.dispose]: () => over.resolve(STOPPED),
  };
}

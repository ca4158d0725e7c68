/** Requests on their way to handlers. The entry point of this folder for the rest of the gateway. */
export { createDispatcher, type Dispatcher, type DispatcherDeps, type ExtraMethods } from "./dispatch.ts";
export type { CallContext, Caller, Handler, Handlers } from "./handler.ts";
export { invalidRequest, type Answer } from "./protocol-error.ts";

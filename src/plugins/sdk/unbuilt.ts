/** Functions of the SDK whose modules are missing: they can be imported, and say what is missing when they are called. */
import { AppError } from "../../base/errors.ts";

/** Of queues between a channel and the conversation. */
export const INGRESS_INSTEAD =
  "is not there yet: its parameters and result are not documented. Pass each event to ctx.inbound.accept of your account, which stores it, checks access and has it answered";

/** `later`: it answers with a promise, so it rejects. `instead` says why, and what to use in its place. */
export function unbuilt(name: string, module: string, later = true, instead?: string): (...args: unknown[]) => never {
  const why = instead ?? `needs "${module}", which this gateway does not have yet; a newer version may`;
  const refuse = (): never => {
    throw new AppError("UNAVAILABLE", `${name} ${why}`, { details: { name, room: module } });
  };
  return later ? ((async () => refuse()) as unknown as () => never) : refuse;
}

/** Functions of the SDK whose rooms are not built: they can be imported, and say what is missing when they are called. */
import { AppError } from "../../../base/errors.ts";

/** `later`: it answers with a promise, so it rejects. */
export function unbuilt(name: string, room: string, later = true): (...args: unknown[]) => never {
  const refuse = (): never => {
    throw new AppError("UNAVAILABLE", `${name} needs "${room}", which this gateway does not have yet; a newer version may`, { details: { name, room } });
  };
  return later ? ((async () => refuse()) as unknown as () => never) : refuse;
}

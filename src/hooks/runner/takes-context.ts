/** An arrow function whose only parameter is a plain name or plain names in braces. */
const EVENT_ONLY = /^(?:async\s*)?(?:[\w$]+|\(\s*(?:[\w$]+|\{[\w$\s,:]*\})?\s*,?\s*\))\s*=>/;

/** Whether a handler could look at its second argument. An arrow function with one parameter cannot; of everything else nobody knows. */
export function takesContext(handler: unknown): boolean {
  return typeof handler !== "function" || !EVENT_ONLY.test(Function.prototype.toString.call(handler));
}
